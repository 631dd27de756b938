"""Big files: memory while they are read, and how long a large workbook takes beside other readers.

    python tests/bench/files.py memory --format csv --gigabytes 3 --folder /tmp/big
    python tests/bench/files.py xlsx --rows 200000 --folder /tmp/big

Prints one JSON object a measurement. Every reader and every run has a process of its own, so that its peak memory is
its own. The text files have the articles of corpus.py; a workbook's are made of phrases of sample_data, put together by
chance.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

SAMPLE = Path(__file__).parents[2] / "sample_data" / "news.csv"
NAMES = ("id", "title", "content", "source", "url", "pub_time")
LEAST_ROW_BYTES = 1500  # an article of corpus.py has 2,700
LENGTH = 1000  # characters of an article: what Chinese news has on average


def articles(seed: int = 0, length: int = LENGTH) -> Iterator[tuple[str, ...]]:
    """Rows without end, one in ten a reprint with another source."""
    rng = random.Random(seed)
    phrases = _phrases()
    text = "".join(rng.choice(phrases) + rng.choice("，，，。") for _ in range(400_000))
    reprinted = ""
    number = 0
    while True:
        number += 1
        parts = rng.choices(range(len(text) - length), k=5)
        body = "\n".join(text[at : at + length // 5] for at in parts)
        if number % 10 == 0:
            body = reprinted
        reprinted = body
        title = text[parts[0] : parts[0] + 24].replace("。", " ")
        yield (
            f"{number:09}",
            title,
            body,
            f"网站{number % 97}",
            f"http://example.com/{number}.html",
            f"2024-{number % 12 + 1:02}-{number % 28 + 1:02} 08:00",
        )


def _phrases() -> list[str]:
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        texts = [row["content"] for row in csv.DictReader(file)]
    return sorted({part for text in texts for part in re.findall(r"[\u4e00-\u9fff0-9]{2,20}", text)})


def make(path: Path, format: str, size: int) -> None:
    """Write at least `size` bytes of the made-up articles of corpus.py as CSV or JSONL."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from bench import corpus

    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        if format == "csv":
            out.writerow(NAMES)
        for table, _ in corpus.groups(size // LEAST_ROW_BYTES):
            columns = table.cast(pa.schema([(name, pa.string()) for name in NAMES])).to_pydict()
            rows = zip(*columns.values(), strict=True)
            if format == "csv":
                out.writerows(rows)
            else:
                file.writelines(
                    json.dumps(dict(zip(NAMES, row, strict=True)), ensure_ascii=False) + "\n" for row in rows
                )
            if file.tell() >= size:
                return
    raise ValueError(f"{path} is smaller than {size:,} bytes")


def make_workbook(path: Path, rows: int, length: int = 200) -> None:
    """A workbook as Excel writes it, with shared strings."""
    import xlsxwriter

    book = xlsxwriter.Workbook(str(path), {"constant_memory": False, "strings_to_urls": False})
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, NAMES)
    for number, row in zip(range(1, rows + 1), articles(length=length), strict=False):
        sheet.write_number(number, 0, number)
        for column, value in enumerate(row[1:], 1):
            sheet.write_string(number, column, value)
    book.close()


MEASURE = """
import json, resource, time
begin = time.perf_counter()
{code}
print(json.dumps({{"seconds": round(time.perf_counter() - begin, 2), "cpu_seconds": round(time.process_time(), 2),
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, "rows": rows}}))
"""
OURS = """
from pathlib import Path
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.corpus import open_corpus
rows = sum(batch.num_rows for batch in open_corpus([{path!r}], ReadOptions(), Path({path!r}).parent).full())
"""
READERS = {
    "newsdedup": OURS,
    "pandas, openpyxl": "import pandas\nrows = len(pandas.read_excel({path!r}, dtype=str))",
    "pandas, calamine": "import pandas\nrows = len(pandas.read_excel({path!r}, dtype=str, engine='calamine'))",
    "polars, calamine": "import polars\nrows = len(polars.read_excel({path!r}, engine='calamine'))",
    "python-calamine": "import python_calamine as c\n"
    "rows = len(c.CalamineWorkbook.from_path({path!r}).get_sheet_by_index(0).to_python()) - 1",
    "openpyxl, read-only": "import openpyxl\n"
    "rows = sum(1 for _ in openpyxl.load_workbook({path!r}, read_only=True).active.iter_rows(values_only=True)) - 1",
}


def workbook(folder: Path, rows: int) -> list[dict]:
    """Seconds and peak memory of each reader that is installed, on one workbook of so many rows."""
    path = folder / f"news-{rows}.xlsx"
    if not path.exists():
        make_workbook(path, rows)
    found = []
    for name, code in READERS.items():
        program = MEASURE.format(code=code.format(path=str(path)))
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        if done.returncode:  # not installed
            found.append({"reader": name, "missing": done.stderr.splitlines()[-1] if done.stderr else "killed"})
        else:
            found.append({"reader": name, "bytes": path.stat().st_size, **json.loads(done.stdout)})
    return found


def memory(folder: Path, format: str, gigabytes: float, *options: str) -> dict:
    """The counts of a run over a file of this size, with its seconds and peak memory."""
    path = folder / f"news-{gigabytes:g}.{format}"
    if not path.exists():
        part = path.with_suffix(".part")
        make(part, format, int(gigabytes * 10**9))
        part.rename(path)
    begin = time.perf_counter()
    command = [sys.executable, "-c", "from newsdedup_cli.cli import main; main()", "run", str(path)]
    command += ["-o", str(folder / f"unique.{format}"), "--overwrite", "--json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    counts = json.loads(done.stdout)
    return {
        "format": format,
        "bytes": path.stat().st_size,
        "rows": counts["read"],
        "kept": counts["kept"],
        "seconds": round(time.perf_counter() - begin, 1),
        "peak_mb": counts["peak_bytes"] >> 20,
        "options": options,
    }


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["memory", "xlsx"])
    parser.add_argument("--folder", type=Path, default=Path("bench-out"))
    parser.add_argument("--format", choices=["csv", "jsonl"], default="csv")
    parser.add_argument("--gigabytes", type=float, default=3)
    parser.add_argument("--rows", type=int, default=200_000)
    given, options = parser.parse_known_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.what == "xlsx":
        for line in workbook(given.folder, given.rows):
            print(json.dumps(line, ensure_ascii=False))
    else:
        print(json.dumps(memory(given.folder, given.format, given.gigabytes, *options), ensure_ascii=False))


if __name__ == "__main__":
    main()
