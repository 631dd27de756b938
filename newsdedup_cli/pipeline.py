"""The order of the stages, and the only module that knows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pyarrow as pa

from newsdedup_cli import boilerplate, candidates, keep, verify
from newsdedup_cli.cluster import cluster
from newsdedup_cli.decision import classic_outcome, for_a_person, reasons
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.fingerprint import BOILERPLATE_ONLY, fingerprint
from newsdedup_cli.kernels import text
from newsdedup_cli.progress import Progress
from newsdedup_cli.report import shown
from newsdedup_cli.scan import Scanned, cleaned_by, scan, user_dictionary
from newsdedup_cli.segment import load_lexicon
from newsdedup_cli.settings import Settings
from newsdedup_cli.tables import (
    I64,
    U8,
    U64,
    Bools,
    Fingerprints,
    Outcome,
    Pairs,
    Verified,
)
from newsdedup_cli.texts import TextStore, buffers, strings
from newsdedup_cli.verify import guards

STILL_SAID = 0.85  # share of what a text says of its title that taking out boilerplate must leave
LISTED = 2000  # pieces of boilerplate that the report lists
STRIP_ROWS = 4096  # rows whose texts are in memory while boilerplate is taken out


@dataclass
class Decided:
    """The rows of a corpus and what was decided of them."""

    scanned: Scanned
    fingerprints: Fingerprints
    outcome: Outcome
    texts: dict[int, str]  # row, from 1 -> its text as compared, of the few that report.html shows
    urls: dict[int, str]  # row, from 1 -> its url, of those that report.xlsx lists


def decide(
    corpus: Corpus,
    columns: Mapping[str, Sequence[Column]],
    settings: Settings,
    progress: Progress,
    *,
    threads: int = 1,
    limit: int | None = None,
    tmpdir: Path | None = None,
) -> Decided:
    """Find the copies among the rows of the corpus."""
    with opened(corpus, columns, settings, progress, threads=threads, limit=limit, tmpdir=tmpdir) as run:
        outcome = run.outcome()
        texts = run.texts.named(shown.rows_shown(outcome))
        urls = run.scanned.urls.named(shown.rows_listed(outcome)) if run.scanned.urls else {}
        return Decided(run.scanned, run.prints, outcome, texts, urls)


@contextmanager
def opened(
    corpus: Corpus,
    columns: Mapping[str, Sequence[Column]],
    settings: Settings,
    progress: Progress,
    *,
    threads: int = 1,
    limit: int | None = None,
    tmpdir: Path | None = None,
) -> Iterator[Run]:
    """A run whose cleaned texts are at hand as long as the block lasts, for questions beyond its outcome."""
    with TextStore(tmpdir) as texts, TextStore(tmpdir) as urls:
        with progress.stage("fingerprints") as advance:
            kept_urls = urls if columns.get("url") else None
            scanned = scan(corpus, columns, settings, texts, threads, limit, advance, kept_urls)
        yield Run(scanned, texts, settings, progress, threads)


class Run:
    """The stages after the first pass; what `prepare` finds stays for who asks."""

    boilerplate: U64  # hashes of the recurring pieces, ascending
    rank: I64  # [N] of a cluster the row of least rank stays
    representative: I64  # [N] the row that stands for all of one digest
    proposed: Pairs  # what any source of candidates gave
    chosen: Pairs  # those of them worth reading
    family: Bools  # [N] rows of one form, alike but for names and numbers
    known: Verified  # every pair that was verified, once `outcome` has run

    def __init__(
        self, scanned: Scanned, texts: TextStore, settings: Settings, progress: Progress, threads: int
    ) -> None:
        self.scanned, self.texts, self.progress, self.threads = scanned, texts, progress, threads
        self.settings, self.matching = settings, settings.matching
        self.prints = scanned.batch.fingerprints

    def prepare(self) -> list[tuple[str, int]]:
        """Boilerplate out, candidates proposed; returns the boilerplate that the report lists."""
        with self.progress.stage("boilerplate"):
            self.boilerplate, listed = self._boilerplate()
            if self.matching.boilerplate and self.matching.scope == "full":
                self.prints.alone[guards.foreign_bodies(self.prints, self.scanned.rows)] = BOILERPLATE_ONLY
        with self.progress.stage("candidates"):
            self.rank = self._ranks()
            self.representative = candidates.representatives(self.prints.digest, self.rank, self.prints.alone > 0)
            urls = self.scanned.rows.url if self.scanned.rows.url.any() else None
            batch = self.scanned.batch
            self.proposed = candidates.propose(
                self.prints,
                self.representative,
                self.boilerplate,
                self.matching,
                urls,
                batch.pieces,
                batch.piece_rows,
            )
            plausible = verify.plausible(self.proposed, self.prints)
            self.chosen = Pairs(*(getattr(self.proposed, f.name)[plausible] for f in fields(Pairs)))
        return listed

    def measured(self) -> verify.Measured:
        """What the texts of the chosen pairs say."""
        with self.progress.stage("verification", len(self.chosen), "pairs") as advance:
            return verify.measured(
                self.chosen, self.texts.gather, self.matching, self.threads, advance, self.title_texts
            )

    def measure(self, pairs: Pairs) -> verify.Measured:
        """What the texts of any pairs say."""
        return verify.measured(pairs, self.texts.gather, self.matching, self.threads, titles=self.title_texts)

    def title_texts(self, some: I64) -> tuple[U8, I64]:
        """The cleaned titles of rows: data u1[B], offsets i8[R+1]."""
        return buffers(self._titles(some))

    def judged(self, found: verify.Measured) -> Verified:
        """The chosen pairs with their verdicts by `matching`, which may have changed since they were measured."""
        edges = verify.judged(self.chosen, found, self.prints, self.scanned.rows, self.matching)
        self.family = guards.families(edges, len(self.prints))
        guards.hold_families(edges, self.family)
        return edges

    def outcome(self) -> Outcome:
        """All stages in order."""
        if self.matching.preset.startswith("classic"):
            return classic_outcome(self.scanned, self.settings)
        listed = self.prepare()
        edges = self.judged(self.measured())
        with self.progress.stage("clusters"):
            clusters, links = cluster(edges, self.representative, self.rank, self.prints.digest, self.score)
        self.known = links.known
        equal = self.representative[clusters.link.a] == clusters.link.b
        clusters.link.shared_sentences[equal] = (self.prints.sentences[clusters.link.b[equal]] != 0).sum(axis=1)
        return Outcome(
            clusters,
            self.prints.alone,
            reasons(clusters, self.representative, self.matching.max_distance),
            for_a_person(links.known, clusters, self.representative),
            listed,
            len(self.proposed),
            len(self.chosen),
        )

    def _ranks(self) -> I64:
        keeping = self.settings.keeping
        rows = self.scanned.rows
        places = {name: place for place, name in enumerate(keeping.prefer_source)}
        names = rows.source.to_pylist() if places else []
        sources = np.fromiter((places.get(name, len(places)) for name in names), np.int64, len(names))
        if not places:
            sources = np.zeros(len(rows), np.int64)
        return keep.ranks(
            keeping, rows.date, self.prints.significant, sources, self.prints.digest, self.scanned.identity
        )

    def _boilerplate(self) -> tuple[U64, list[tuple[str, int]]]:
        """Learn it, take it out of the texts and fingerprint those anew."""
        batch, matching = self.scanned.batch, self.matching
        found = boilerplate.nothing()
        if matching.boilerplate:
            representative = candidates.representatives(self.prints.digest, self._ranks(), self.prints.alone > 0)
            counted = representative == np.arange(len(self.prints))
            found = boilerplate.learn(
                batch.pieces, batch.piece_rows, counted, self.prints.digest, matching.boilerplate_rows
            )
        spelled = boilerplate.spelling(found, self.texts.gather, matching.least_piece)
        texts = dict(zip(found.hashes.tolist(), spelled, strict=True))
        found = boilerplate.without_quotes(found, spelled, self._titles)
        hashes, common = found.hashes, found.common
        if matching.boilerplate_file:
            lines = boilerplate.read_lines(matching.boilerplate_file)
            given = boilerplate.hashes_of(cleaned_by(lines, matching), matching.least_piece)
            hashes, common = np.union1d(hashes, given), np.union1d(common, given)
        listed = [(texts[h], n) for h, n in zip(found.hashes.tolist(), found.rows.tolist(), strict=True)]
        self._strip(boilerplate.rows_with(batch.pieces, batch.piece_rows, hashes), hashes)
        return common, sorted(listed, key=lambda piece: (-piece[1], piece[0]))[:LISTED]

    def _titles(self, some: I64) -> pa.LargeStringArray:
        return cleaned_by(self.scanned.rows.title.take(pa.array(some)), self.matching)

    def _strip(self, rows: I64, hashes: U64) -> None:
        lexicon = load_lexicon(user_dictionary(self.matching))
        for begin in range(0, len(rows), STRIP_ROWS):
            some = rows[begin : begin + STRIP_ROWS]
            stripped = boilerplate.strip(strings(*self.texts.gather(some)), hashes, self.matching.least_piece)
            stays = self._speaks_of_title(some, stripped)
            some, stripped = some[stays], stripped.filter(pa.array(stays))
            self.texts.replace_strings(some, stripped)
            new = fingerprint(stripped, lexicon, self.matching).fingerprints
            emptied = some[(new.alone > 0) & (self.prints.alone[some] == 0)]
            for field in fields(Fingerprints):
                getattr(self.prints, field.name)[some] = getattr(new, field.name)
            self.prints.alone[emptied] = BOILERPLATE_ONLY

    def _speaks_of_title(self, some: I64, stripped: pa.LargeStringArray) -> Bools:
        """Whether what is left still says of the title what the whole did; else the news itself was taken out."""
        about = self.scanned.rows
        support, _ = text.title_evidence(*buffers(self._titles(some)), *buffers(stripped))
        before = about.title_support[some]
        said: Bools = about.title_bits[some].any(axis=1) & (before >= guards.SUPPORT) & (support < STILL_SAID * before)
        return ~said

    def score(self, a: I64, b: I64) -> Verified:
        """Any pairs a < b of rows, verified as `run` verifies them."""
        pairs = candidates.with_figures(a, b, self.scanned.rows.url, self.prints)
        found = verify.judged(pairs, self.measure(pairs), self.prints, self.scanned.rows, self.matching)
        guards.hold_families(found, self.family)
        return found
