"""Whether what a run writes fits where it goes, before the work starts.

The estimates are rather low than high, for a refusal cannot be overruled: what is refused would have ended with a full
disk. Measured on Chinese news: cleaned texts are .8 of the input's, zstd takes .4 of a text and gzip .45, and all that
is said of a row besides its texts is some 1 kB.
"""

from __future__ import annotations

import shutil
import struct
import zipfile
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import zstandard

from newsdedup_cli.errors import UserError
from newsdedup_cli.files.base import Source
from newsdedup_cli.files.corpus import Corpus
from newsdedup_cli.files.streams import compression_of
from newsdedup_cli.task import Job

PACKED = 0.3  # of the texts' size, in Parquet, XLSX and compressed files
CLEANED = 0.5  # of the texts' size, for the cleaned texts
EXPANDS = 2  # times its size that a compressed text has at least
CREDIBLE = 100  # times its size that a damaged one may say it has


def check_space(job: Job, corpus: Corpus) -> None:
    """Raise UserError where OUT, the removed rows or the cleaned texts plainly have no room."""
    if job.dry_run or job.limit is not None:
        return
    size = sum(map(text_bytes, corpus.sources))
    needs: dict[int, list[tuple[Path, str, int]]] = defaultdict(list)
    if job.out not in (None, "-"):
        out = Path(str(job.out))
        packed = compression_of(out) or out.suffix.lower() in (".parquet", ".pq", ".xlsx", ".xlsm")
        written = int(size * (PACKED if packed else 1) * (1 if job.report else 0.3))
        what = "for OUT and the removed rows" if job.report else "for OUT"
        _add(needs, out.parent, what, written)
    _add(needs, job.tmpdir or (Path(str(job.out)).parent if needs else None), "for cleaned texts", int(size * CLEANED))
    for here in needs.values():
        _refuse(here, job)


def _add(needs: dict[int, list[tuple[Path, str, int]]], folder: Path | None, what: str, size: int) -> None:
    if folder is not None and folder.is_dir():
        needs[_device(folder)].append((folder, what, size))


def _device(folder: Path) -> int:
    return folder.stat().st_dev


def _refuse(needs: list[tuple[Path, str, int]], job: Job) -> None:
    """Raise if one file system lacks the room for all that goes to it."""
    folder = needs[0][0]
    free = shutil.disk_usage(folder).free
    needed = sum(size for _, _, size in needs)
    if needed <= free:
        return
    parts = " and ".join(f"{shown(size)} {what}" for _, what, size in needs)
    elsewhere = [] if job.tmpdir and len(needs) == 1 else ["--tmpdir on another disk"]
    if any(what.startswith("for OUT") for _, what, _ in needs):
        elsewhere.append("another -o")
    raise UserError(
        f"{folder.resolve()} has {shown(free)} free, and the run needs at least {shown(needed)} there",
        wanted=f"room: {parts}" + (f" (--tmpdir {job.tmpdir})" if job.tmpdir in {f for f, _, _ in needs} else ""),
        todo=" or ".join(elsewhere) or "another --tmpdir",
    )


def text_bytes(source: Source) -> int:
    """How many bytes the values of a source are at least, as text."""
    size = source.path.stat().st_size
    if source.format == "parquet":
        about = pq.read_metadata(source.path)
        return sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    if source.format == "xlsx":
        with zipfile.ZipFile(source.path) as archive:
            parts = [part for part in archive.infolist() if "sharedStrings" in part.filename]
        return max(size, sum(part.file_size for part in parts))
    with source.path.open("rb") as file:
        head = file.read(18)
        file.seek(max(0, size - 4))
        tail = file.read(4)
    said = None
    if head[:2] == b"\x1f\x8b" and len(tail) == 4:  # ends with its size, of the last member and in 32 bits
        said = int(struct.unpack("<I", tail)[0])
    elif head[:4] == zstandard.FRAME_HEADER:
        said = _content_size(head)
    if said is None:
        return size
    return said if EXPANDS * size < said < CREDIBLE * size else EXPANDS * size


def _content_size(head: bytes) -> int:
    """What a zstd frame says of its size, -1 if nothing."""
    try:
        return int(zstandard.frame_content_size(head))
    except zstandard.ZstdError:
        return -1


def shown(size: int) -> str:
    """A size in bytes for people.

    >>> shown(3_400_000_000), shown(12)
    ('3.4 GB', '12 bytes')
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
