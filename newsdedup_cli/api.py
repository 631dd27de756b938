"""newsdedup from Python: `dedup` for a frame, `Deduplicator` for texts that come one by one.

Both decide as `newsdedup run` does, by the same code. Errors a user can mend are errors.UserError.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from newsdedup_cli.errors import UserError
from newsdedup_cli.settings import Keeping, Matching, Settings, settings_from

if TYPE_CHECKING:
    from newsdedup_cli.online import Found, Prepared

__all__ = ["Deduplicator", "Match", "dedup"]

When = str | datetime.date | datetime.datetime | None


def dedup(
    frame: Any,
    text: str | tuple[str, ...] | None = None,
    *,
    id: str | None = None,
    title: str | None = None,
    date: str | None = None,
    source: str | None = None,
    url: str | None = None,
    decisions: Path | str | None = None,
    threads: int = 1,
    **options: Any,
) -> Any:
    """Find the copies among the rows of a frame, as `newsdedup run` does.

    Parameters: `frame`, a polars DataFrame or LazyFrame, a pyarrow Table or RecordBatch, or a pandas DataFrame; the
    names of its columns, guessed from the header where they are not given (text: one, or several that are joined);
    `decisions`, a reviewed file; and any setting of [matching] and [keeping] by its name (`newsdedup run
    --print-config` lists them), such as keep="first" or boilerplate=False.

    Returns the table that a report calls rows.parquet, one line per row of the frame, as the same kind of frame: row
    (from 1), id, similar_id, size, kept, kept_row, kept_id, reason, distance, shared_sentences, score.
    Raises UserError.

    >>> import polars as pl
    >>> story = "长江大桥今日上午正式通车，首日车流超过三万辆，沿线三个县的居民出行时间缩短一半。"
    >>> texts = [story, "【快讯】" + story, "市图书馆明年起周一也开放。"]
    >>> news = pl.DataFrame({"id": ["a", "b", "c"], "content": texts})
    >>> dedup(news).select("id", "similar_id", "kept", "kept_id", "reason").rows()
    [('a', 0, True, None, ''), ('b', 0, False, 'a', 'exact'), ('c', 1, True, None, '')]
    >>> news.filter(dedup(news)["kept"])["id"].to_list()
    ['a', 'c']
    """
    from newsdedup_cli import account, pipeline
    from newsdedup_cli.columns import resolve_columns
    from newsdedup_cli.decisions import load
    from newsdedup_cli.files.corpus import Corpus
    from newsdedup_cli.files.memory import MemorySource
    from newsdedup_cli.progress import Progress
    from newsdedup_cli.report.data import rows_table

    texts = (text,) if isinstance(text, str) else tuple(text or ())
    given = {"id": id, "title": title, "text": texts or None, "date": date, "source": source, "url": url}
    settings = _settings({name: column for name, column in given.items() if column}, options)
    corpus = Corpus([MemorySource(_as_table(frame))])
    progress = Progress(quiet=True)
    decided = pipeline.decide(
        corpus,
        resolve_columns(corpus, settings, progress),
        settings,
        progress,
        threads=threads,
        decided=None if decisions is None else load(Path(decisions)),
    )
    account.name_missing_ids(decided)
    return _like(rows_table(decided.scanned.rows, decided.scanned.files, decided.outcome), frame)


def _settings(columns: dict[str, Any], options: dict[str, Any]) -> Settings:
    """The settings by their names, whatever their section."""
    sections: dict[str, dict[str, Any]] = {"columns": columns, "matching": {}, "keeping": {}}
    kinds = {"matching": Matching, "keeping": Keeping}
    for name, value in options.items():
        section = next((s for s, kind in kinds.items() if name in {f.name for f in fields(kind)}), None)
        if section is None or name == "mark":
            known = [f.name for kind in (Matching, Keeping) for f in fields(kind) if f.name != "mark"]
            raise UserError(f"unknown setting '{name}'", wanted=f"one of {', '.join(known)}")
        sections[section][name] = value
    return settings_from(sections)


def _as_table(frame: Any) -> pa.Table:
    module = type(frame).__module__.partition(".")[0]
    if module == "polars":
        lazy = hasattr(frame, "collect")
        table: pa.Table = (frame.collect() if lazy else frame).to_arrow()
        return table
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if isinstance(frame, pa.Table):
        return frame
    if module == "pandas":
        return pa.Table.from_pandas(frame, preserve_index=False)
    raise UserError(
        f"a frame of type {type(frame).__module__}.{type(frame).__qualname__}",
        wanted="a polars or pandas DataFrame, or a pyarrow Table",
    )


def _like(table: pa.Table, frame: Any) -> Any:
    module = type(frame).__module__.partition(".")[0]
    if module == "polars":
        import polars as pl

        return pl.from_arrow(table)
    if module == "pandas":
        return table.to_pandas()
    return table


@dataclass(frozen=True)
class Match:
    """What a text is a copy of."""

    similar_id: int  # number of the cluster, from 0 in order of first texts
    id: str | None  # of the text that stays for it
    reason: str  # exact, simhash or sentence
    score: float  # 0..1, 1 = same
    distance: int  # of the fingerprints, in bits


class Deduplicator:
    """Texts one by one, each judged against all that were added before it: for a crawler's loop.

    The answers are those of `newsdedup run --keep first --no-boilerplate` over the same texts in the same order.
    Parameters: `index`, the folder of an index whose rows come first (its settings hold; nothing is written to it), or
    None to begin with nothing; `tmpdir`, where the cleaned texts lie meanwhile; without an index any setting of
    [matching] by its name. One thread at a time. About 1.2 KB of memory a text.

    >>> story = "长江大桥今日上午正式通车，首日车流超过三万辆，沿线三个县的居民出行时间缩短一半。"
    >>> with Deduplicator() as seen:
    ...     seen.add(story, id="a")
    ...     seen.is_duplicate("【快讯】" + story)
    ...     seen.similar_id("市图书馆明年起周一也开放。") is None
    ...     seen.add("市图书馆明年起周一也开放。", id="b")
    ...     seen.find(story).id
    0
    True
    True
    1
    'a'
    """

    def __init__(self, index: Path | str | None = None, *, tmpdir: Path | None = None, **options: Any) -> None:
        from newsdedup_cli.online import Seen

        self.ids: list[str | None] = []  # of the texts that stay, by similar_id
        self._asked: tuple[tuple[Any, ...], Prepared, Found] | None = None  # the last question and its answer
        if index is not None:
            from newsdedup_cli import online_index

            if options:
                raise UserError(f"settings beside an index: {', '.join(options)}", wanted="those that it was made with")
            self._seen, self.ids = online_index.opened(Path(index), tmpdir)
            return
        settings = _settings({}, {"boilerplate": False, **options})
        _check(settings)
        self._seen = Seen(settings.matching, tmpdir)

    def find(
        self, text: str | None, title: str | None = None, date: When = None, url: str | None = None
    ) -> Match | None:
        """What the text is a copy of, None where of nothing; it is not added.

        `title`, `date` (as people write dates, or a datetime) and `url` matter as they do in a run.
        """
        _, found = self._judged(text, title, date, url)
        if found.row < 0:
            return None
        number = int(self._seen.of["similar_id"][found.row])
        return Match(number, self.ids[number], found.reason, found.score, found.distance)

    def is_duplicate(
        self, text: str | None, title: str | None = None, date: When = None, url: str | None = None
    ) -> bool:
        """Whether the text is a copy of one that was added; it is not added itself."""
        return self.find(text, title, date, url) is not None

    def similar_id(
        self, text: str | None, title: str | None = None, date: When = None, url: str | None = None
    ) -> int | None:
        """The number of the cluster that the text belongs to, None where it would be one of its own."""
        found = self.find(text, title, date, url)
        return None if found is None else found.similar_id

    def add(
        self,
        text: str | None,
        id: str | None = None,
        title: str | None = None,
        date: When = None,
        url: str | None = None,
    ) -> int:
        """Remember the text, also where it is a copy; returns the number of its cluster, the next one if it is new."""
        number: int = self._seen.add(*self._judged(text, title, date, url))
        self._asked = None
        if number == len(self.ids):
            self.ids.append(id)
        return number

    def _judged(self, text: str | None, title: str | None, date: When, url: str | None) -> tuple[Prepared, Found]:
        """A text and what it is a copy of; asking and adding then costs once."""
        asked = (text, title, date, url)
        if self._asked is None or self._asked[0] != asked:
            from newsdedup_cli.dates import parse_date

            year = self._seen.matching.year
            when = date if isinstance(date, str | None) else date.isoformat()
            new = self._seen.prepare(text or "", title, parse_date(when, int(year) if year else None), url)
            self._asked = asked, new, self._seen.find(new)
        return self._asked[1:]

    def close(self) -> None:
        """Give the disk space back."""
        self._seen.close()

    def __len__(self) -> int:
        """How many different articles there are."""
        return len(self.ids)

    def __enter__(self) -> Deduplicator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _check(settings: Settings) -> None:
    matching = settings.matching
    if matching.preset.startswith("classic") or matching.window or matching.boilerplate or matching.boilerplate_file:
        raise UserError(
            "a setting that looks beyond the texts before: a classic preset, window, or boilerplate",
            wanted="an index for learnt boilerplate, or `newsdedup run`",
        )
    if settings.keeping != replace(Settings().keeping, keep=settings.keeping.keep) or settings.keeping.keep not in (
        "auto",
        "first",
        "latest",
    ):
        raise UserError(f"keep = {settings.keeping.keep}", wanted="nothing: the first text of a cluster stays")
