"""The order of the stages, and the only module that knows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from newsdedup_cli import boilerplate, candidates, classic, keep, verify
from newsdedup_cli.cluster import cluster
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.fingerprint import BOILERPLATE_ONLY, fingerprint
from newsdedup_cli.progress import Progress
from newsdedup_cli.scan import Scanned, cleaned_by, scan
from newsdedup_cli.segment import load_lexicon
from newsdedup_cli.settings import Settings
from newsdedup_cli.tables import (
    I64,
    REASONS,
    SAME,
    U8,
    U64,
    Clusters,
    Fingerprints,
    Outcome,
    Pairs,
    Verified,
)
from newsdedup_cli.texts import TextStore, strings

EXACT, SIMHASH, SENTENCE = map(REASONS.index, ("exact", "simhash", "sentence"))
STRIP_ROWS = 4096  # rows whose texts are in memory while boilerplate is taken out


@dataclass
class Decided:
    """The rows of a corpus and what was decided of them."""

    scanned: Scanned
    fingerprints: Fingerprints
    outcome: Outcome


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
    with TextStore(tmpdir) as texts:
        with progress.stage("fingerprints") as advance:
            scanned = scan(corpus, columns, settings, texts, threads, limit, advance)
        fingerprints = scanned.batch.fingerprints
        if settings.matching.preset.startswith("classic"):
            outcome = _classic(scanned, settings)
        else:
            run = _Run(scanned, texts, settings, progress, threads)
            outcome = run.outcome()
        return Decided(scanned, fingerprints, outcome)


class _Run:
    """The stages after the first pass."""

    def __init__(
        self, scanned: Scanned, texts: TextStore, settings: Settings, progress: Progress, threads: int
    ) -> None:
        self.scanned, self.texts, self.progress, self.threads = scanned, texts, progress, threads
        self.settings, self.matching = settings, settings.matching
        self.prints = scanned.batch.fingerprints

    def outcome(self) -> Outcome:
        """All stages in order."""
        with self.progress.stage("boilerplate"):
            hashes, listed = self._boilerplate()
        with self.progress.stage("candidates"):
            rank = self._ranks()
            representative = candidates.representatives(self.prints.digest, rank, self.prints.alone > 0)
            urls = self.scanned.rows.url if self.scanned.rows.url.any() else None
            pairs = candidates.propose(self.prints, representative, hashes, self.matching, urls)
            plausible = verify.plausible(pairs, self.prints)
            chosen = Pairs(*(getattr(pairs, f.name)[plausible] for f in fields(Pairs)))
        with self.progress.stage("verification", len(chosen), "pairs") as advance:
            edges = verify.verify(chosen, self.prints, self.texts.gather, self.matching, self.threads, advance)
        with self.progress.stage("clusters"):
            clusters, links = cluster(edges, representative, rank, self.prints.digest, self._score)
        return Outcome(
            clusters,
            self.prints.alone,
            reasons(clusters, representative, self.matching.max_distance),
            for_a_person(links.known, clusters, representative),
            listed,
            len(pairs),
            len(chosen),
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
        hashes = found.hashes
        if matching.boilerplate_file:
            lines = boilerplate.read_lines(matching.boilerplate_file)
            given = boilerplate.hashes_of(cleaned_by(lines, matching), matching.least_piece)
            hashes = np.union1d(hashes, given)
        listed = boilerplate.examples(found, self.texts.gather, matching.least_piece)
        self._strip(boilerplate.rows_with(batch.pieces, batch.piece_rows, hashes), hashes)
        return hashes, listed

    def _strip(self, rows: I64, hashes: U64) -> None:
        lexicon = load_lexicon(self.matching.userdict)
        for begin in range(0, len(rows), STRIP_ROWS):
            some = rows[begin : begin + STRIP_ROWS]
            stripped = boilerplate.strip(strings(*self.texts.gather(some)), hashes, self.matching.least_piece)
            self.texts.replace_strings(some, stripped)
            new = fingerprint(stripped, lexicon, self.matching).fingerprints
            emptied = some[(new.alone > 0) & (self.prints.alone[some] == 0)]
            for field in fields(Fingerprints):
                getattr(self.prints, field.name)[some] = getattr(new, field.name)
            self.prints.alone[emptied] = BOILERPLATE_ONLY

    def _score(self, a: I64, b: I64) -> Verified:
        pairs = candidates.with_figures(a, b, self.scanned.rows.url, self.prints)
        return verify.verify(pairs, self.prints, self.texts.gather, self.matching, self.threads)


def _classic(scanned: Scanned, settings: Settings) -> Outcome:
    matching, prints = settings.matching, scanned.batch.fingerprints
    alone = prints.significant == 0
    if matching.preset == "classic-simhash":
        clusters = classic.simhash_clusters(prints.simhash, alone, matching.max_distance)
    else:
        clusters = classic.nshash_clusters(scanned.raw, alone, matching.sentence_ends)
    prints.alone[~alone] = 0
    reason = np.full(len(clusters.link), SIMHASH if matching.preset == "classic-simhash" else SENTENCE, np.uint8)
    nothing = clusters.link.where(np.zeros(0, np.int64))
    return Outcome(clusters, prints.alone, reason, nothing, [], 0, 0)


def reasons(clusters: Clusters, representative: I64, max_distance: int) -> U8:
    """Why each row is removed, an index into REASONS: equal, near in simhash, or by shared sentences and shingles."""
    link = clusters.link
    near = link.distance <= max_distance
    reason: U8 = np.where(near, SIMHASH, SENTENCE).astype(np.uint8)
    reason[representative[link.a] == representative[link.b]] = EXACT
    return reason


def for_a_person(known: Verified, clusters: Clusters, representative: I64) -> Verified:
    """The verified pairs that are doubtful and not in one cluster after all."""
    apart = clusters.similar_id[known.a] != clusters.similar_id[known.b]
    return known.where((known.verdict != 0) & (known.verdict != SAME) & apart)
