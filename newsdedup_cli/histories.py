"""The rows of before that a run is compared with: indexes are opened, and of files an index is made for the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from newsdedup_cli.columns import resolve_columns
from newsdedup_cli.errors import UserError
from newsdedup_cli.files import format_of
from newsdedup_cli.files.base import ReadOptions
from newsdedup_cli.files.corpus import Corpus, input_paths, open_corpus
from newsdedup_cli.index import History, Index
from newsdedup_cli.index.manifest import NAME, signed_settings
from newsdedup_cli.index.store import create
from newsdedup_cli.pipeline import decide
from newsdedup_cli.progress import Progress
from newsdedup_cli.settings import Columns, Settings
from newsdedup_cli.task import Job


@dataclass
class Held:
    """What a run is compared with, and what takes its rows."""

    history: History | None = None
    into: Index | None = None
    inputs: list[str] = field(default_factory=list)  # files and folders, for run.json

    def as_dict(self) -> dict[str, Any]:
        """For run.json."""
        return {
            "rows": self.history.rows if self.history else 0,
            "against": self.inputs,
            "index": str(self.into.folder) if self.into else None,
        }


@contextmanager
def held(job: Job, settings: Settings, corpus: Corpus, progress: Progress, tmpdir: Path | None) -> Iterator[Held]:
    """Open what the job is compared with, for as long as the block lasts. Raises UserError where it cannot be used."""
    if not job.against and job.index is None:
        yield Held()
        return
    if settings.matching.preset.startswith("classic"):
        raise UserError(
            f"--against or --index with --preset {settings.matching.preset}",
            wanted="another preset: the published recipes know no history",
        )
    wanted = signed_settings(settings.matching)
    folders = [Path(item) for item in job.against if Path(item).is_dir()]
    files = _files([item for item in job.against if not Path(item).is_dir()], corpus, progress)
    with ExitStack() as stack:
        opened = [stack.enter_context(Index(folder, wanted)) for folder in folders if folder != job.index]
        into = None
        if job.index is not None:
            into = _opened_to_add(job, job.index, stack, settings)
        if files:
            folder = Path(stack.enter_context(TemporaryDirectory(dir=tmpdir, prefix=".newsdedup-history-")))
            opened.insert(0, stack.enter_context(_made_of(files, folder, job, settings, progress)))
        history = History([*opened, *([into] if into else [])])
        if history.indexes:
            progress.say(f"history: {history.rows:,} rows")
        names = [str(path) for path in files] + [str(folder) for folder in folders]
        yield Held(history if history.indexes else None, into if into and into.write else None, names)


def _opened_to_add(job: Job, folder: Path, stack: ExitStack, settings: Settings) -> Index | None:
    wanted = signed_settings(settings.matching)
    if job.dry_run:
        there = (folder / NAME).exists()
        return stack.enter_context(Index(folder, wanted)) if there else None
    if not (folder / NAME).exists():
        create(folder, wanted)
    return stack.enter_context(Index(folder, wanted, write=True))


def _files(items: Sequence[str], corpus: Corpus, progress: Progress) -> list[Path]:
    """The files of the history, without those that are inputs: a row is no copy of itself."""
    if "-" in items:
        raise UserError("--against -", wanted="a file or an index: standard input is for the new rows")
    found = []
    for path in input_paths(items) if items else []:
        if path.exists() and any(source.path.exists() and source.path.samefile(path) for source in corpus.sources):
            progress.say(f"{path} is an input: its rows are not compared with themselves")
        elif path not in found:
            found.append(path)
    return found


def _made_of(files: Sequence[Path], folder: Path, job: Job, settings: Settings, progress: Progress) -> Index:
    """An index of the rows of files, with the settings of the run."""
    create(folder, signed_settings(settings.matching))
    with Index(folder, None, write=True) as index:
        add(index, [str(path) for path in files], _read_options(job, files), settings, progress, job)
    return Index(folder, None)


def add(
    index: Index, inputs: Sequence[str], read: ReadOptions, settings: Settings, progress: Progress, job: Job
) -> None:
    """Decide the rows of inputs against an index, and add them."""
    corpus = open_corpus(inputs, read, job.tmpdir)
    known = replace(settings, columns=_known(corpus, settings.columns))
    columns = resolve_columns(corpus, known, progress, "history: ")
    history = History([index]) if index.manifest.rows else None
    decided = decide(
        corpus, columns, settings, progress, threads=job.threads, tmpdir=job.tmpdir, history=history, into=index
    )
    for warning in corpus.findings.warnings:
        progress.warn(warning)
    if decided.staged is not None:
        decided.staged.commit()


def _read_options(job: Job, files: Sequence[Path]) -> ReadOptions:
    """As the inputs are read where the files are of their format; else what the files themselves tell."""

    def kind(path: str | Path) -> str:
        try:
            return format_of(Path(path))
        except UserError:
            return ""

    given = {kind(path) for path in job.inputs if path != "-"}
    if {kind(path) for path in files} <= given or "" in map(kind, files):
        return replace(job.read, wanted=())
    return ReadOptions()


def _known(corpus: Corpus, columns: Columns) -> Columns:
    """The columns asked for, as far as these files have them; the others are guessed from their headers."""
    values: dict[str, Any] = {}
    for item in fields(columns):
        given = getattr(columns, item.name)
        names = given if isinstance(given, tuple) else (given,) if given else ()
        try:
            for name in names:
                corpus.resolve(name, f"--{item.name}")
        except UserError:
            values[item.name] = item.default
    return replace(columns, **values)
