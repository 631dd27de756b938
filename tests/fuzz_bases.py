"""What the fuzz starts from: small files of each format, as different writers make them, and how they are damaged."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from datetime import date, datetime
from decimal import Decimal
from functools import cache

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import xlsxwriter
import zstandard
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

FORMATS = ("csv", "tsv", "jsonl", "parquet", "xlsx", "gz", "zst")
PIECES = [
    b'"', b'""', b",", b";", b"\n", b"\r", b"\r\n", b"\t", b"\0", b"\0" * 8, b"\xff", b"\xff\xfe", b"\xef\xbb\xbf",
    b"{", b"}", b"[", b"]", b"\\", b"\\ud800", b'"\\ud83d"', b"NaN", b"-Infinity", b"1e999", b"null", b'{"a":1}\n',
    b"sep=;\n", b"\x81", b"\xa1\xa1", b"\x1a", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"=1+1", b"&#0;",
    b"&bomb;", b"<c>", b"</row>", b"_x000D_", b"_xD800_", b"9" * 400, b"PAR1", b"PK\x05\x06", b"\x1f\x8b\x08",
]  # fmt: skip
CODECS = (
    "gb18030", "big5hkscs", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "shift_jis", "euc_kr", "cp1252",
    "utf-7", "hz", "iso2022_jp",
)  # fmt: skip
BODIES = [
    "本报讯 记者昨日从市交通局获悉，自下月起全市公交票价下调百分之十，学生和老人继续免费。",
    '第一段，有逗号\n第二段，有 "引号"\r\n\r\n第四段。',
    "=SUM(A1:A9) 看起来是公式",
    "<p>标签 &amp; 实体&nbsp;&#8220;引号&#8221;</p>",
    "短",
    "",
    "Emoji 😀 and 𠮷 and \u200b zero width, \ufeff a mark, \x0b a control",
    "The council approved the new bus fares on Monday, said the mayor; pupils ride for free as before.",
]
ROWS = [
    (["001", "2", "9007199254740993", "", "A-7", "1e5", "0", "001"][i], f"标题{i}", body, f"2024-01-0{i + 1} 08:00")
    for i, body in enumerate(BODIES)
]
NAMES = ("id", "title", "content", "pub_time")


def _delimited(delimiter: str, line_end: str = "\n", rows: int = len(ROWS)) -> bytes:
    lines = [delimiter.join(NAMES)]
    for row in ROWS[:rows]:
        quoted = ['"' + v.replace('"', '""') + '"' if set(v) & set('"\r\n' + delimiter) else v for v in row]
        lines.append(delimiter.join(quoted))
    return (line_end.join(lines) + line_end).encode()


def _jsonl() -> list[bytes]:
    import json

    objects = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    plain = "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in objects).encode()
    nested = '{"id":12345678901234567890,"content":{"text":"正文在里面，够长","n":[1,null,NaN]},"x":1.50}\n'.encode()
    late = b'{"id":1}\n\n{"id":2,"content":"\\ud800 half","id":3}\n{bad}\n{"late":["a","b"],"content":null}\n'
    array = json.dumps(objects[:4], ensure_ascii=False, indent=1).encode()
    return [plain, nested + late, array, plain.replace(b"\n", b"\r\n")]


def _parquets() -> list[bytes]:
    texts = [row[2] for row in ROWS]
    ids = [row[0] for row in ROWS]
    n = len(ROWS)
    tables = [
        pa.table({"id": ids, "content": texts}),
        pa.table({
            "id": pa.array(range(n), pa.int64()),
            "content": pa.array(texts).dictionary_encode(),
            "tags": pa.array([["a", None], None] * (n // 2), pa.list_(pa.string())),
            "when": pa.array([datetime(2024, 1, 1)] * n, pa.timestamp("us", "Asia/Shanghai")),
            "price": pa.array([Decimal("1.20")] * n, pa.decimal128(9, 2)),
        }),
        pa.table({
            "id": pa.array([None, *ids[1:]], pa.string_view()),
            "content": pa.array([t.encode("gb18030") for t in texts], pa.binary()),
            "about": pa.array([{"text": t, "n": 1} for t in texts]),
            "m": pa.array([[("k", 1.5)]] * n, pa.map_(pa.string(), pa.float64())),
        }),
        pa.table({"id": [1.0, 2.0], "content": [["第一段，很长很长的一段", "第二段"], None]}),
    ]  # fmt: skip
    kinds = [
        {"compression": "snappy"},
        {"compression": "zstd", "data_page_version": "2.0", "row_group_size": 3},
        {"compression": "none", "use_dictionary": False},
        {"compression": "gzip", "write_statistics": False},
    ]
    made = []
    for table, kind in zip(tables, kinds, strict=True):
        out = io.BytesIO()
        pq.write_table(table, out, **kind)
        made.append(out.getvalue())
    return made


def _openpyxl() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["某新闻表"])
    sheet.append(list(NAMES))
    for row in ROWS[:6]:
        sheet.append([v.replace("\x0b", "") for v in row])
    sheet["A8"], sheet["B8"], sheet["C8"] = 12345678901234567890, date(2024, 1, 2), "=1+1"
    sheet["C4"] = CellRichText("plain ", TextBlock(InlineFont(b=True), "bold 粗体"))
    sheet.merge_cells("A3:A5")
    book.create_sheet("第二张").append(["x"])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _xlsxwriter() -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    sheet = book.add_worksheet()
    for r, row in enumerate([NAMES, *ROWS]):
        for c, value in enumerate(row):
            sheet.write_string(r, c, value)
    sheet.write_formula(9, 0, "=1+1", None, "2")
    sheet.write_datetime(9, 3, datetime(2024, 5, 6, 7, 8), book.add_format({"num_format": "yyyy-mm-dd hh:mm"}))
    book.close()
    return out.getvalue()


@cache
def bases(format: str) -> list[bytes]:
    """Whole files of the format (for gz and zst: what is inside)."""
    if format in ("csv", "gz", "zst"):
        found = [_delimited(","), _delimited(",", "\r\n"), _delimited(";"), _delimited(",", "\r", 1), b"a\nb\n"]
        return found + (_jsonl()[:1] if format != "csv" else [])
    if format == "tsv":
        return [_delimited("\t"), _delimited("\t", "\r\n")]
    return {"jsonl": _jsonl, "parquet": _parquets, "xlsx": lambda: [_openpyxl(), _xlsxwriter()]}[format]()


def damaged(data: bytes, rng: random.Random, *, in_place: bool = False) -> bytes:
    """The bytes after one to eight accidents, now and then none; `in_place` all others stay where they are."""
    out = bytearray(data)
    for _ in range(rng.choice([0, 1, 1, 2, 3, 8])):
        place = rng.randrange(len(out) + 1)
        match rng.randrange(2 if in_place else 8):
            case 0 if out:
                out[place % len(out)] ^= 1 << rng.randrange(8)
            case 1:
                new = rng.choice(PIECES)[: len(out) - place] if in_place else rng.randbytes(4)
                out[place : place + len(new)] = new
            case 2:
                del out[place : place + rng.choice([1, 3, 20, 200])]
            case 3:
                del out[place:]
            case 4:
                other = rng.randrange(len(out) + 1)
                out[place:place] = out[other : other + rng.randrange(1, 200)]
            case 5:
                out[place:place] = rng.choice(PIECES)
            case 6:
                out[place:place] = bytes(out[place : place + rng.randrange(1, 64)]) * rng.choice([2, 50])
            case _:
                out[place:place] = rng.randbytes(rng.randrange(1, 32))
    return bytes(out)


def mutated(format: str, rng: random.Random) -> bytes:
    """A damaged file of the format."""
    data = rng.choice(bases(format))
    if format == "xlsx":
        return _other_parts(data, rng) if rng.random() < 0.7 else damaged(data, rng)
    if format == "parquet":
        return damaged(data, rng, in_place=rng.random() < 0.7)
    if rng.random() < 0.3:
        data = data.decode().encode(rng.choice(CODECS), "replace")
    if format not in ("gz", "zst"):
        return damaged(data, rng)
    pack = {"gz": gzip.compress, "zst": zstandard.compress}[format]
    if rng.random() < 0.4:
        return pack(damaged(data, rng))
    return damaged(pack(data), rng, in_place=rng.random() < 0.5)


def _other_parts(data: bytes, rng: random.Random) -> bytes:
    """The workbook with one of its parts damaged or missing, the archive itself whole."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        chosen = rng.choice([n for n in names if "sheet" in n or "String" in n or rng.random() < 0.3] or names)
        for name in names:
            part = old.read(name)
            if name == chosen and rng.random() < 0.05:
                continue
            new.writestr(name, damaged(part, rng) if name == chosen else part)
    return out.getvalue()


def options(format: str, rng: random.Random) -> list[str]:
    """Options of reading, as people try them on files that will not open."""
    if rng.random() < 0.7:
        return []
    text = [
        ["--encoding", rng.choice([*CODECS, "utf-8", "ascii", "latin1"])], ["--delimiter", rng.choice(",;\t|")],
        ["--quote", "none"], ["--quote", "'"],
    ]  # fmt: skip
    shared = [["--no-header", "--text", "#1"], ["--header-row", str(rng.randrange(1, 12))], ["--text", "#1"]]
    shared += [["--limit", "2"], ["--mark"]]
    return rng.choice(shared + {"xlsx": [["--sheet", "2"]], "parquet": []}.get(format, text))
