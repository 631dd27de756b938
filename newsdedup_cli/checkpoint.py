"""Fingerprints already made, for the run that comes after one that was stopped.

While the first pass runs, what it found out goes to a hidden folder beside OUT in parts, each written beside its
place, synced, renamed, and named by the checksum of what is in it: a part that is not whole is no part. The cleaned
texts lie in the folder too, and only once (texts.TextStore), so the disk holds some 700 bytes a row more than it
would anyway.

A batch of rows is known by its content (a hash of every value that was read of it), not by its file's name, time or
checksum: the next run reads its input as always, and where a batch is one that was saved, takes that. So it does not
matter how early the run was stopped, and an input that has grown, or comes through standard input again, still
gives what it can. The settings, the rules and the dictionary are signed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import threading
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from newsdedup_cli import evidence
from newsdedup_cli.fingerprint import Batch
from newsdedup_cli.spill import MEMORY
from newsdedup_cli.tables import I64, U64, Rows
from newsdedup_cli.texts import TextStore, buffers

PART_BATCHES = 16
PART_BYTES = 64 << 20
LEAST_BYTES = 32 << 20  # of input, from which a run takes long enough for it
KEPT_AFTER = (KeyboardInterrupt, OSError, MemoryError)  # no fault of input or settings: the next run may succeed
_META = b"newsdedup"


@dataclass
class Place:
    """A batch in the files of texts: where its texts and urls start, how many bytes they are, and their CRC-32."""

    key: str  # names the content of the batch
    rows: int
    texts: tuple[int, int, int]
    urls: tuple[int, int, int] = (0, 0, 0)


@dataclass
class Made:
    """What the first pass found out about one batch, and its texts or where an earlier run left them."""

    key: str
    batch: Batch
    rows: Rows
    identity: U64
    cleaned: pa.LargeStringArray | None
    urls: pa.LargeStringArray | None
    place: Place | None = None
    lengths: tuple[I64, I64] | None = None  # of the texts and of the urls


def key_of(identity: U64, arrays: Sequence[pa.Array]) -> str:
    """The name of a batch: a hash of its rows' hashes, and of which of their values are missing."""
    digest = hashlib.sha256(identity.tobytes())
    for array in arrays:
        digest.update(np.packbits(array.is_null().to_numpy(zero_copy_only=False)).tobytes())
    return digest.hexdigest()[:32]


def rules_version() -> str:
    """Changes with the program: by its source, for a checkout of it changes without a new version."""
    from newsdedup_cli import __version__

    digest = hashlib.sha256(__version__.encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Earlier:
    """The parts that an earlier run saved in a folder, those that are whole and of this signature."""

    def __init__(self, folder: Path, signature: str) -> None:
        self.rows = 0
        self.ends = [0, 0]  # how much of the files of texts and urls they need
        self._signature = signature
        self._known: dict[str, tuple[Path, int, Place]] = {}
        self._part: tuple[Path, pa.ipc.RecordBatchFileReader] | None = None  # the one that was asked for last
        self._guard = threading.Lock()
        sizes = [_size(folder / name) for name in ("texts", "urls")]
        for path in sorted(folder.glob("*.part*")):
            if not self._load(path, sizes):
                path.unlink(missing_ok=True)

    def _load(self, path: Path, sizes: list[int]) -> bool:
        with suppress(OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            with path.open("rb") as file:
                if path.name != _name_of(hashlib.file_digest(file, "sha256")):
                    return False
            with pa.ipc.open_file(pa.OSFile(str(path))) as reader:
                said = json.loads(reader.schema.metadata[_META])
            places = [Place(**place) for place in said["batches"]]
            ends = [max(sum(getattr(place, name)[:2]) for place in places) for name in ("texts", "urls")]
            if said["signature"] != self._signature or ends[0] > sizes[0] or ends[1] > sizes[1]:
                return False
            self._known |= {place.key: (path, i, place) for i, place in enumerate(places)}
            self.ends = [max(pair) for pair in zip(self.ends, ends, strict=True)]
            self.rows += sum(place.rows for place in places)
            return True
        return False

    def find(self, key: str) -> Made | None:
        """What is saved of the batch of this name."""
        if key not in self._known:
            return None
        path, at, place = self._known[key]
        with self._guard:
            if self._part is None or self._part[0] != path:
                # Read, not mapped: what is mapped counts as memory of this process.
                self._part = path, pa.ipc.open_file(pa.OSFile(str(path)))
            lines = self._part[1].get_batch(at)
        found = evidence.from_arrow(lines)
        texts, urls = (np.array(lines.column(name).to_numpy()) for name in ("text_length", "url_length"))
        return Made(key, found.batch, found.rows, found.identity, None, None, place, (texts, urls))


class Checkpoint:
    """The texts of a run, and what is saved of it; a context manager.

    Without a folder, or where another run is using that, nothing is saved and the texts lie in files without a name.
    What is saved goes when the run has succeeded, and stays where the next one can use it.
    """

    texts: TextStore
    urls: TextStore | None = None

    def __init__(self, folder: Path | None = None, tmpdir: Path | None = None, memory: int = MEMORY) -> None:
        self._folder, self.tmpdir, self.memory = folder, tmpdir, memory
        self._lock: int | None = None
        self._earlier: Earlier | None = None
        self._signature = ""
        self._held: list[Made] = []
        self._writer: ThreadPoolExecutor | None = None
        self._writing: Future[None] | None = None
        self._say: Callable[[str], None] = lambda _: None
        self.continued = 0  # rows whose fingerprints an earlier run had made

    def open(self, signature: Callable[[], str], with_urls: bool, say: Callable[[str], None]) -> None:
        """Make ready, and find what an earlier run with the same signature saved."""
        self._say = say
        folder = self._folder if self._folder and self._locked(self._folder) else None
        if folder:
            self._signature = signature()
            self._earlier = Earlier(folder, self._signature)
            self._writer = ThreadPoolExecutor(1, "checkpoint")
        ends = self._earlier.ends if self._earlier else (0, 0)
        self.texts = TextStore(self.tmpdir, folder and folder / "texts", ends[0])
        if with_urls:
            self.urls = TextStore(self.tmpdir, folder and folder / "urls", ends[1])

    def find(self, key: str) -> Made | None:
        """What is saved of a batch, if its texts are as they were."""
        made = self._earlier.find(key) if self._earlier else None
        if made is None or made.place is None:
            return None
        start, size, check = made.place.texts
        whole = self.texts.checksum(start, size) == check
        if self.urls is not None:
            start, size, check = made.place.urls
            whole = whole and self.urls.checksum(start, size) == check
        return made if whole else None

    def take(self, made: Made) -> None:
        """The next batch in order: its texts go to the files, and what was made of it is saved with the next part."""
        if made.cleaned is None:
            self._adopt(made)
            return
        made.place = Place(made.key, len(made.rows), _append(self.texts, made.cleaned))
        none: I64 = np.zeros(len(made.rows), np.int64)
        lengths = np.diff(buffers(made.cleaned)[1])
        if self.urls is not None and made.urls is not None:
            made.place.urls = _append(self.urls, made.urls)
            none = np.diff(buffers(made.urls)[1])
        made.lengths = (lengths, none)
        made.cleaned = made.urls = None
        if self._writer:
            self._held.append(made)
            size = sum(held.place.texts[1] for held in self._held if held.place)
            if len(self._held) >= PART_BATCHES or size >= PART_BYTES:
                self.save()

    def _adopt(self, made: Made) -> None:
        if made.place is None or made.lengths is None:
            raise ValueError("a batch without texts")
        if not self.continued and self._earlier:
            self._say(f"continuing: {self._earlier.rows:,} rows were fingerprinted by an earlier run")
        self.continued += len(made.rows)
        self.texts.adopt(made.place.texts[0], made.lengths[0])
        if self.urls is not None:
            self.urls.adopt(made.place.urls[0], made.lengths[1])

    def save(self) -> None:
        """Write what is held as a part, in the background."""
        self._wait()
        if not self._writer or not self._held:
            return
        for store in (self.texts, self.urls):
            if store:
                store.flush()
        self._writing = self._writer.submit(self._write, self._held)
        self._held = []

    def _wait(self) -> None:
        """Until the last part is written; where that fails the run goes on, and what is written of OUT will tell."""
        writing, self._writing = self._writing, None
        if writing is None:
            return
        try:
            writing.result()
        except OSError as error:
            self._say(f"nothing is saved to continue from: {error.strerror or error}")
            self._writer, self._held = None, []

    def _write(self, held: list[Made]) -> None:
        if self._folder is None:
            return
        said = {"signature": self._signature, "batches": [made.place.__dict__ for made in held if made.place]}
        data = _serialised([_lines(made) for made in held], json.dumps(said).encode())
        for store in (self.texts, self.urls):
            if store:
                store.sync()
        place = self._folder / _name_of(hashlib.sha256(data))
        unfinished = place.with_suffix(".part-unfinished")
        with unfinished.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(place)
        _sync_folder(self._folder)

    def _locked(self, folder: Path) -> bool:
        """Whether the folder is there now and no other run is using it."""
        try:
            folder.mkdir(exist_ok=True)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._unlock()
            return False
        return True

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close; what is saved goes, but for after what the next run may not meet."""
        stays = isinstance(error, KEPT_AFTER)
        with suppress(Exception):
            if stays:
                self.save()
            self._wait()
        if self._writer:
            self._writer.shutdown()
        for store in (getattr(self, "texts", None), self.urls):
            if store:
                with suppress(OSError):  # of a full disk once more
                    store.close()
        if self._lock is not None and self._folder:
            if stays and any(self._folder.glob("*.part")):
                self._say(f"the same command continues from here: the fingerprints are in {self._folder}")
            else:
                shutil.rmtree(self._folder, ignore_errors=True)
        self._unlock()


def _lines(made: Made) -> pa.RecordBatch:
    # The run goes on to number the files in these very rows.
    rows = replace(made.rows, file=np.zeros(len(made.rows), np.int32))
    lines = evidence.to_arrow(evidence.Evidence(made.batch, rows, [], made.identity, None))
    for name, lengths in zip(("text_length", "url_length"), made.lengths or (), strict=True):
        lines = lines.append_column(name, pa.array(lengths))
    return lines


def _serialised(batches: list[pa.RecordBatch], meta: bytes) -> pa.Buffer:
    out = pa.BufferOutputStream()
    with pa.ipc.new_file(out, batches[0].schema.with_metadata({_META: meta})) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return out.getvalue()


def _name_of(digest: Any) -> str:
    return f"{digest.hexdigest()[:32]}.part"


def _append(store: TextStore, texts: pa.LargeStringArray) -> tuple[int, int, int]:
    data, offsets = buffers(texts)
    start = store.size
    store.append(data, offsets)
    here = data[offsets[0] : offsets[-1]]
    return start, len(here), zlib.crc32(here.data)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
