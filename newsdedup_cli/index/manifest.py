"""The manifest of an index: what belongs to it, and with which version and settings it was made."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from newsdedup_cli import __version__
from newsdedup_cli.errors import UserError
from newsdedup_cli.settings import Matching

FORMAT = 1
NAME = "manifest.json"
# What may differ from run to run: they change no fingerprint and no decision that is stored.
FREE = ("window", "year")


@dataclass(frozen=True)
class Part:
    """One file: its path in the folder and what it must look like."""

    path: str
    kind: str  # rows, links or boilerplate
    rows: int
    bytes: int
    day: str = ""  # of rows
    undated: int = 0  # rows without a date: they lie under the day on which they were added
    first: int = 0  # least and greatest number of its rows
    last: int = 0
    end: int = 0  # checksum of its last bytes, which say where everything is


@dataclass(frozen=True)
class Manifest:
    """All that is said of an index as a whole."""

    settings: dict[str, Any]  # what makes fingerprints and decisions, and the package's version
    next_number: int = 0  # the next row's number; numbers are given once
    generation: int = 0  # one more with every change; part of the names of new files
    parts: tuple[Part, ...] = field(default=())

    def of(self, kind: str) -> list[Part]:
        """The parts of a kind, in the order in which they were added."""
        return [part for part in self.parts if part.kind == kind]

    @property
    def rows(self) -> int:
        """Rows in the index."""
        return sum(part.rows for part in self.of("rows"))

    def changed(self, drop: set[str], add: list[Part], next_number: int | None = None) -> Manifest:
        """The manifest without the parts of these paths and with these new ones."""
        kept = [part for part in self.parts if part.path not in drop]
        return replace(
            self,
            parts=(*kept, *add),
            next_number=self.next_number if next_number is None else next_number,
            generation=self.generation + 1,
        )


def signed_settings(matching: Matching) -> dict[str, Any]:
    """What an index must have been made with to be used: matching, files by content, and our version."""
    values = {name: value for name, value in asdict(matching).items() if name not in FREE}
    for name in ("boilerplate_file", "userdict"):
        if values[name]:
            values[name] = _content(values[name])
    return {"version": __version__, **values}


def _content(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error


def write(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest, whole or not at all."""
    text = json.dumps({"format": FORMAT, "kind": "newsdedup index", **asdict(manifest)}, ensure_ascii=False, indent=1)
    beside = folder / f".{NAME}.{os.getpid()}.part"
    with beside.open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    beside.replace(folder / NAME)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Make renames in the folder last."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(folder: Path) -> Manifest:
    """The manifest of a folder. Raises UserError where there is none, or one that this version cannot read."""
    try:
        values = json.loads((folder / NAME).read_text("utf-8"))
        made = values["format"]
    except FileNotFoundError as error:
        raise UserError(
            f"{folder} is no index", wanted=f"a folder with a {NAME}", todo=f"newsdedup index build {folder} INPUT..."
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, f"{NAME} cannot be read ({error})") from error
    if made != FORMAT:
        raise UserError(
            f"{folder} has format {made}, made by newsdedup {_version_of(values)}",
            wanted=f"format {FORMAT}, of newsdedup {__version__}",
            todo=f"newsdedup index build {folder}-new INPUT...",
        )
    try:
        parts = tuple(Part(**part) for part in values["parts"])
        return Manifest(values["settings"], values["next_number"], values["generation"], parts)
    except (KeyError, TypeError) as error:
        raise _damaged(folder, f"{NAME} is not whole ({error})") from error


def _version_of(values: dict[str, Any]) -> str:
    settings = values.get("settings")
    return str(settings.get("version", "?")) if isinstance(settings, dict) else "?"


def _damaged(folder: Path, what: str) -> UserError:
    return UserError(f"{folder}: {what}", todo=f"newsdedup index build {folder}-new INPUT...")


def check(folder: Path, manifest: Manifest, wanted: dict[str, Any] | None) -> None:
    """Raise UserError where the index was made otherwise than `wanted`, or a file is missing or cut short."""
    if wanted is not None:
        _check_settings(folder, manifest.settings, wanted)
    for part in manifest.parts:
        try:
            size = (folder / part.path).stat().st_size
        except OSError as error:
            raise _damaged(folder, f"{part.path} is missing") from error
        if size != part.bytes:
            raise _damaged(folder, f"{part.path} has {size:,} bytes, not {part.bytes:,}: cut short or changed")
        if end_checksum(folder / part.path) != part.end:
            raise _damaged(folder, f"{part.path}: its end was changed")


def end_checksum(path: Path) -> int:
    """The checksum of a Parquet file's footer; its pages have their own."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        footer = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size - 8 - min(footer, size)))
        return zlib.crc32(file.read())


def _check_settings(folder: Path, made: dict[str, Any], wanted: dict[str, Any]) -> None:
    # Through JSON, as the stored ones went: tuples become lists.
    wanted = json.loads(json.dumps(wanted))
    names = [name for name in {**wanted, **made} if made.get(name) != wanted.get(name)]
    if names:
        shown = [f"{name} {made.get(name)!r}, now {wanted.get(name)!r}" for name in names[:4]]
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        raise UserError(
            f"{folder} was made with other settings: {'; '.join(shown)}{more}",
            wanted="the same options as when it was made",
            todo=f"them, or newsdedup index build {folder}-new INPUT...",
        )
