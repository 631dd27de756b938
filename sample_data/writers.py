"""The same rows in each input format; the bytes depend on the rows and on the libraries' versions only."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

Row = dict[str, Any]
COLUMNS = ("id", "title", "content", "source", "url", "pub_time")
CHINESE = ("编号", "标题", "正文", "来源", "链接", "发布时间")
TRUTH = ("id", "cluster", "kind", "relation", "note")
WRITTEN = datetime(2026, 7, 1)


def csv_bytes(header: tuple[str, ...], rows: list[list[Any]], encoding: str, newline: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=newline)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode(encoding)


def cells(rows: list[Row], time_format: str) -> list[list[Any]]:
    return [[*(row[name] for name in COLUMNS[:-1]), row["pub_time"].strftime(time_format)] for row in rows]


def write_csv(path: Path, rows: list[Row]) -> None:
    path.write_bytes(csv_bytes(COLUMNS, cells(rows, "%Y-%m-%d %H:%M:%S"), "utf-8", "\n"))


def write_gb18030(path: Path, rows: list[Row]) -> None:
    path.write_bytes(csv_bytes(CHINESE, cells(rows, "%Y-%m-%d %H:%M"), "gb18030", "\r\n"))


def write_jsonl(path: Path, rows: list[Row]) -> None:
    lines = [json.dumps({**row, "pub_time": row["pub_time"].isoformat()}, ensure_ascii=False) for row in rows]
    path.write_bytes(("\n".join(lines) + "\n").encode())


def write_parquet(path: Path, rows: list[Row]) -> None:
    fields = [pa.field(name, pa.string()) for name in COLUMNS[:-1]]
    schema = pa.schema([*fields, pa.field(COLUMNS[-1], pa.timestamp("ms"))])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, compression="zstd")


def write_xlsx(path: Path, rows: list[Row]) -> None:
    """Cells stay text, times are real times; the dates that openpyxl and zip add are fixed."""
    book = openpyxl.Workbook()
    book.properties.creator, book.properties.created = "make_sample.py", WRITTEN
    sheet = book.active
    sheet.title = "news"
    sheet.append(COLUMNS)
    for row in rows:
        sheet.append([row[name] for name in COLUMNS])
    made = io.BytesIO()
    book.save(made)
    modified = rb"(<dcterms:modified[^>]*>)[^<]*"
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = re.sub(modified, rb"\g<1>" + f"{WRITTEN:%Y-%m-%dT%H:%M:%SZ}".encode(), old.read(name))
            entry = zipfile.ZipInfo(name, date_time=WRITTEN.timetuple()[:6])
            entry.create_system = 3
            new.writestr(entry, data, zipfile.ZIP_DEFLATED)


def write_truth(path: Path, truth: list[Row]) -> None:
    path.write_bytes(csv_bytes(TRUTH, [[row[name] for name in TRUTH] for row in truth], "utf-8", "\n"))


FORMATS = {
    "news.csv": write_csv,
    "news_gb18030.csv": write_gb18030,
    "news.jsonl": write_jsonl,
    "news.parquet": write_parquet,
    "news.xlsx": write_xlsx,
}
