"""The file formats: one module each, with a source and a sink; a new format is a module and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.files.base import ReadOptions, Sink, Source, WriteOptions
from newsdedup_cli.files.streams import COMPRESSIONS, first_bytes, kind_of

__all__ = ["FORMATS", "Format", "format_of", "open_sink", "open_source"]


@dataclass(frozen=True)
class Format:
    """Where a format lives, the extensions it has, and whether its files may be .gz or .zst."""

    source: str
    sink: str
    extensions: tuple[str, ...]
    compressed: bool = False

    def load(self, place: str) -> Callable[..., object]:
        """A class by `module:name`, imported when it is needed."""
        module, name = place.split(":")
        return cast(Callable[..., object], getattr(import_module(f"{__name__}.{module}"), name))


FORMATS: dict[str, Format] = {
    "csv": Format("delimited:DelimitedSource", "delimited_sink:DelimitedSink", (".csv", ".txt"), True),
    "tsv": Format("delimited:DelimitedSource", "delimited_sink:TabSink", (".tsv", ".tab"), True),
    "jsonl": Format("jsonl:JsonlSource", "jsonl_sink:JsonlSink", (".jsonl", ".ndjson", ".json"), True),
    "parquet": Format("parquet:ParquetSource", "parquet:ParquetSink", (".parquet", ".pq")),
    "xlsx": Format("xlsx:XlsxSource", "xlsx_sink:XlsxSink", (".xlsx", ".xlsm")),
}
_BY_EXTENSION = {extension: name for name, format in FORMATS.items() for extension in format.extensions}


def format_of(path: Path | str, given: str | None = None) -> str:
    """The format of a file: the one given, else by its extension; `-` needs one given.

    >>> format_of("news.csv.gz")
    'csv'
    >>> format_of("-", "jsonl")
    'jsonl'
    """
    if given is not None:
        if given.lower() not in FORMATS:
            raise UserError(f"unknown --format {visible(given)}", wanted=f"one of {', '.join(FORMATS)}")
        return given.lower()
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    packed = len(suffixes) > 0 and suffixes[-1] in COMPRESSIONS
    extension = (suffixes[-2] if len(suffixes) > 1 else "") if packed else (suffixes or [""])[-1]
    if extension in (".xls", ".et", ".xlsb", ".ods"):
        raise UserError(
            f"{path} is a workbook of another kind ({extension})",
            wanted="an .xlsx workbook or a .csv file",
            todo="opening it in Excel, WPS or LibreOffice and saving it as .xlsx",
        )
    name = _BY_EXTENSION.get(extension)
    if name is None or (packed and not FORMATS[name].compressed):
        raise _unknown(path, name, packed)
    return name


def _unknown(path: Path, name: str | None, packed: bool) -> UserError:
    if str(path) == "-":
        return UserError("the format of standard input and output has to be named", todo="--format csv")
    if name and packed:
        return UserError(f"{path}: {name} is not read or written compressed", todo=f"decompressing it to .{name} first")
    known = ", ".join(extension for extension in _BY_EXTENSION)
    return UserError(
        f"cannot tell the format of {path} by its extension",
        wanted=f"one of {known} (text formats also with .gz or .zst)",
        todo=f"--format {' or '.join(FORMATS)}",
    )


def open_source(path: Path, name: str, format: str, options: ReadOptions, tmpdir: Path | None = None) -> Source:
    """Open an input file; `name` is how it is called in messages. Raises `UserError`."""
    info = FORMATS[format]
    if info.compressed:
        _check_text(path, name, format)
    extra = (tmpdir,) if format == "xlsx" else ()
    return cast(Source, info.load(info.source)(path, name, format, options, *extra))


def _check_text(path: Path, name: str, format: str) -> None:
    """Raise if a file that should be text begins like another kind of file."""
    head = first_bytes(path, name)
    kind = kind_of(head)
    if kind and not kind.endswith("-compressed"):
        other = "xlsx" if head.startswith(b"PK") else "parquet" if head.startswith(b"PAR1") else None
        raise UserError(f"{name} is {kind}, not {format}", todo=other and f"--format {other}")


def open_sink(target: Path | BinaryIO, format: str, schema: pa.Schema, options: WriteOptions | None = None) -> Sink:
    """Open an output (a path, or an open binary stream) for rows of `schema`, marks included."""
    info = FORMATS[format]
    return cast(Sink, info.load(info.sink)(target, schema, options or WriteOptions()))
