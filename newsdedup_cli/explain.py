"""Why two rows were, or were not, taken for copies: the verdict of `run`, and each rule beside its threshold."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from newsdedup_cli import candidates, pipeline
from newsdedup_cli.errors import UserError, visible
from newsdedup_cli.explain_rules import Measures, Rule, held_by, rules_of
from newsdedup_cli.explain_texts import Comparison, compared
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.names import row_names
from newsdedup_cli.progress import Progress
from newsdedup_cli.scan import joined
from newsdedup_cli.settings import Settings
from newsdedup_cli.tables import ALONE, I32, REASONS, SAME, VERDICTS, Outcome, Verified

CLOSE = 5  # ids that are named where one is unknown
MANY = 50_000  # ids beyond which only those with the same beginning or end are looked at


@dataclass(frozen=True)
class Names:
    """What the rows of a corpus are called."""

    ids: pa.LargeStringArray
    file: I32  # [N] index into files
    files: list[str]

    def find(self, spec: str) -> int:
        """The position of the row with this id, or #N: the row of that number. Raises UserError."""
        import pyarrow.compute as pc

        found = pc.indices_nonzero(pc.equal(self.ids, pa.scalar(spec, pa.large_string()))).to_pylist()
        if len(found) == 1:
            return int(found[0])
        if found:
            places = ", ".join(self.place(row) for row in found[:CLOSE])
            raise UserError(
                f"{len(found)} rows have the id {visible(spec)}: {places}",
                wanted="one of them, by its row number",
                todo=f"'#{found[0] + 1}'",
            )
        number = spec[1:]
        if spec.startswith("#") and number.isdecimal() and 1 <= int(number) <= len(self.ids):
            return int(number) - 1
        raise self._unknown(spec)

    def place(self, row: int) -> str:
        """Where a row stands: its id, file and number."""
        return f"{visible(self.ids[row].as_py())} ({self.files[self.file[row]]}, row {row + 1})"

    def _unknown(self, spec: str) -> UserError:
        if spec.startswith("#") and spec[1:].isdecimal():
            return UserError(f"no row {spec}: there are {len(self.ids):,}", wanted="an id, or # and a row number")
        every = self.ids.to_pylist()
        plain = _plain(spec)
        likely = [i for i, name in enumerate(every) if _plain(name) == plain][:CLOSE]
        if len(every) > MANY:
            every = [name for name in every if name[:3] == spec[:3] or name[-4:] == spec[-4:]][:MANY]
        close = difflib.get_close_matches(spec, every, CLOSE, 0.6) if not likely else []
        rows = likely or [self.ids.index(name).as_py() for name in dict.fromkeys(close)]
        return UserError(
            f"no row has the id {visible(spec)}",
            wanted=f"an id, or # and a row number from 1 to {len(self.ids):,}",
            todo="; ".join(self.place(row) for row in rows) or None,
        )


def _plain(name: str) -> str:
    return name.strip().lstrip("0").casefold()


def read_names(corpus: Corpus, columns: Mapping[str, Sequence[Column]], limit: int | None = None) -> Names:
    """The names of all rows, from the id column alone: what is unknown shows before any long work."""
    ids: list[pa.LargeStringArray] = []
    files: list[str] = []
    file: list[I32] = []
    only = {"id": columns["id"]} if "id" in columns else {"text": next(iter(columns.values()))} if columns else {}
    for batch in corpus.texts(only):
        if batch.file not in files:
            files.append(batch.file)
        named = batch.values["id"][0] if "id" in only else pa.nulls(batch.num_rows, pa.large_string())
        ids.append(named)
        file.append(np.full(batch.num_rows, files.index(batch.file), np.int32))
        if limit is not None and batch.first_row + batch.num_rows > limit:
            break
    whole = pa.concat_arrays(ids) if ids else pa.array([], pa.large_string())
    of = np.concatenate(file or [np.zeros(0, np.int32)])
    return Names(row_names(whole, of, files)[:limit], of[:limit], files)


@dataclass(frozen=True)
class Step:
    """One removal: a row, the row it was removed for, and why."""

    row: int  # from 1
    kept_row: int
    reason: str
    score: float
    distance: int
    shared_sentences: int


@dataclass(frozen=True)
class Judgement:
    """What `run` made of two rows."""

    merged: bool
    code: str  # reason of the removal; for a pair kept apart the candidate's, ALONE's, `different` or `unproposed`
    sentence: str
    path: tuple[Step, ...]  # the removals that put both into one cluster
    pair: Verified  # the very pair, of length 1; of length 0 where it was not verified


@dataclass(frozen=True)
class Side:
    """One of the two rows, as it came in."""

    row: int  # from 1
    id: str
    file: str
    kept: bool
    values: dict[str, str]  # title, date, source, url, text


@dataclass(frozen=True)
class Explanation:
    """The whole answer."""

    judgement: Judgement
    sides: tuple[Side, Side]
    rules: list[Rule]
    comparison: Comparison
    signature: str


class Asked:
    """A corpus that was decided as `run` does and can be asked about any two of its rows."""

    def __init__(
        self,
        run: pipeline.Run,
        outcome: Outcome,
        corpus: Corpus,
        columns: Mapping[str, Sequence[Column]],
    ) -> None:
        self.run, self.outcome, self.corpus, self.columns = run, outcome, corpus, columns
        rows = run.scanned.rows
        self.names = Names(row_names(rows.id, rows.file, run.scanned.files), rows.file, run.scanned.files)
        self.classic = run.matching.preset.startswith("classic")
        self._removed = {int(row): i for i, row in enumerate(outcome.clusters.link.a)}

    def judge(self, a: int, b: int) -> Judgement:
        """The verdict on two rows (positions)."""
        clusters = self.outcome.clusters
        pair = self._pair(a, b)
        if clusters.similar_id[a] == clusters.similar_id[b]:
            path = tuple(self._step(row) for row in (a, b) if row in self._removed)
            return Judgement(True, path[0].reason, self._merged(a, b, path, pair), path, pair)
        code, why = self._apart(a, b, pair)
        return Judgement(False, code, f"Not merged: {why}.", (), pair)

    def explain(self, a: int, b: int) -> Explanation:
        """The verdict on two rows (positions) with all that led to it."""
        judgement = self.judge(a, b)
        values = self._values(a, b)
        kept = self.outcome.clusters.kept_row
        sides = tuple(
            Side(
                row + 1,
                self.names.ids[row].as_py(),
                self.names.files[self.names.file[row]],
                bool(kept[row] == row),
                values[row],
            )
            for row in (a, b)
        )
        rules = rules_of(self._measures(a, b), self.run)
        raw = tuple(values[row].get("text", "") for row in (a, b))
        comparison = compared(self.run, a, b, (raw[0], raw[1]), self.columns)
        return Explanation(judgement, (sides[0], sides[1]), rules, comparison, self.run.settings.signature())

    def _decided(self, a: int, b: int) -> str:
        """What a person decided of two rows, "" for nothing."""
        return "" if self.classic else self.run.obeyed.on(*self._representatives(a, b))

    def _representatives(self, a: int, b: int) -> tuple[int, int]:
        if self.classic:
            return a, b
        return int(self.run.representative[a]), int(self.run.representative[b])

    def _pair(self, a: int, b: int) -> Verified:
        """The pair as `run` verifies it: by the rows that stand for all of their text."""
        a, b = sorted(self._representatives(a, b))
        nothing = self.outcome.candidates.where(np.zeros(0, np.int64))
        if self.classic or a == b or self.outcome.alone[[a, b]].any():
            return nothing
        return self.run.score(np.array([a]), np.array([b]))

    def _measures(self, a: int, b: int) -> Measures:
        """Both rows with their figures, also where `run` did not ask for them."""
        first, second = self._representatives(a, b)
        low, high = np.array([min(first, second)]), np.array([max(first, second)])
        pair = candidates.with_figures(low, high, self.run.scanned.rows.url, self.run.prints)
        found = self.run.measure(pair)
        origin = 0
        if not self.classic:
            proposed = self.run.proposed
            at = np.flatnonzero((proposed.a == low) & (proposed.b == high))
            origin = int(proposed.origin[at[0]]) if len(at) else 0
        return Measures(first, second, pair, found, origin, equal=first == second)

    def _step(self, row: int) -> Step:
        i = self._removed[row]
        link = self.outcome.clusters.link
        return Step(
            row + 1,
            int(link.b[i]) + 1,
            REASONS[self.outcome.reason[i]],
            round(float(link.score[i]), 4),
            int(link.distance[i]),
            int(link.shared_sentences[i]),
        )

    def _called(self, row: int) -> str:
        return f"{self.names.ids[row].as_py()} (row {row + 1})"

    def _merged(self, a: int, b: int, path: Sequence[Step], pair: Verified) -> str:
        told = {
            "exact": "their cleaned texts are equal",
            "simhash": "near in their fingerprints, and verified on their texts",
            "sentence": "shared sentences or passages, verified on their texts",
        }
        if self.classic:
            told |= {"simhash": "within --max-distance bits", "sentence": "one of the longest sentences is shared"}
        if len(path) == 1:
            step = path[0]
            row, kept = self._called(step.row - 1), self._called(step.kept_row - 1)
            if self._decided(a, b) == "same":
                told[step.reason] = "a person decided that they are the same"
            return (
                f"Merged: {row} was removed for {kept}: {told[step.reason]}, score {step.score:.3f} "
                f"({step.distance} bits, {step.shared_sentences} shared sentences)."
            )
        kept = self._called(path[0].kept_row - 1)
        return (
            f"Merged through a third row: {self._called(a)} and {self._called(b)} were both removed for {kept}, "
            f"with scores {path[0].score:.3f} ({path[0].reason}) and {path[1].score:.3f} ({path[1].reason})."
            + self._directly(pair)
        )

    def _directly(self, pair: Verified) -> str:
        """What two rows of one cluster are to each other."""
        if len(pair) == 0:
            return "" if self.classic else " Their own texts are equal."
        verdict = VERDICTS[int(pair.verdict[0])] or "different"
        told = "which would do too" if verdict == "same" else f"which alone would not do ({verdict})"
        return f" Compared with each other they score {float(pair.score[0]):.3f}, {told}."

    def _apart(self, a: int, b: int, pair: Verified) -> tuple[str, str]:
        for row in (a, b):
            code = ALONE[self.outcome.alone[row]]
            if code:
                told = {
                    "no_text": "has no text",
                    "too_short": f"has fewer than {self.run.matching.too_short} characters",
                    "boilerplate_only": "has no text but boilerplate",
                }
                return code, f"{self._called(row)} {told[code]}, so it is compared with nothing"
        if self.classic:
            return "different", self._classic_apart(a, b)
        verdict, score = int(pair.verdict[0]), float(pair.score[0])
        if self._decided(a, b) == "different":
            return "different", f"a person decided that they are different (score {score:.3f})"
        if verdict != SAME:
            return VERDICTS[verdict] or "different", held_by(self._measures(a, b), self.run, verdict, score)
        return self._same_but_apart(a, b, score)

    def _same_but_apart(self, a: int, b: int, score: float) -> tuple[str, str]:
        """Why a pair that verifies is not in one cluster."""
        kept = self.outcome.clusters.kept_row
        first, second = self._representatives(a, b)
        low, high = min(first, second), max(first, second)
        told = f"they would verify as copies (score {score:.3f})"
        if not ((self.run.chosen.a == low) & (self.run.chosen.b == high)).any():
            return "unproposed", (
                f"{told}, but neither fingerprint, sentences nor passages proposed the pair, so it was not compared"
            )
        others = [
            f"{self._called(x)} does not resemble {self._called(int(kept[y]))}, which stays for the other ({found})"
            for x, y in ((a, b), (b, a))
            if (found := self._verdict(x, int(kept[y]))) != "same"
        ]
        why = "; ".join(others) or "rows that are kept apart stand between them"
        return "different", f"{told}, but no cluster may hold both: {why}"

    def _verdict(self, a: int, b: int) -> str:
        pair = self._pair(a, b)
        return "same" if len(pair) == 0 else VERDICTS[int(pair.verdict[0])] or f"score {float(pair.score[0]):.3f}"

    def _classic_apart(self, a: int, b: int) -> str:
        matching, prints = self.run.matching, self.run.prints
        bits = int(prints.simhash[a] ^ prints.simhash[b]).bit_count()
        if matching.preset == "classic-nshash":
            return "no sentence among the longest of either led both to one number"
        if bits > matching.max_distance:
            return f"their fingerprints differ in {bits} bits, more than {matching.max_distance}"
        return f"they differ in only {bits} bits, but each met another kept row, or none, before (rows go in order)"

    def _values(self, a: int, b: int) -> dict[int, dict[str, str]]:
        """The values of both rows as they came in: another pass over the input, up to the later of them."""
        found: dict[int, dict[str, str]] = {a: {}, b: {}}
        for batch in self.corpus.texts(self.columns):
            begin = batch.first_row - 1
            for row in (a, b):
                if begin <= row < begin + batch.num_rows:
                    at = row - begin
                    parts = {role: joined([x[at : at + 1] for x in arrays]) for role, arrays in batch.values.items()}
                    found[row] = {role: part[0].as_py() or "" for role, part in parts.items()}
            if begin + batch.num_rows > max(a, b):
                break
        return found


@contextmanager
def asked(
    corpus: Corpus,
    columns: Mapping[str, Sequence[Column]],
    settings: Settings,
    progress: Progress,
    *,
    threads: int = 1,
    limit: int | None = None,
    tmpdir: Path | None = None,
    decided: pa.Table | None = None,
) -> Iterator[Asked]:
    """The corpus decided as `run` does (`decided`: with these decisions), to be asked as long as the block lasts."""
    with pipeline.opened(corpus, columns, settings, progress, threads=threads, limit=limit, tmpdir=tmpdir) as run:
        run.decided = decided
        yield Asked(run, run.outcome(), corpus, columns)


def refuse_equal(a: int, b: int, names: Names) -> None:
    """Raise where both ids name one row."""
    if a == b:
        raise UserError(f"both ids name {names.place(a)}", wanted="two different rows")
