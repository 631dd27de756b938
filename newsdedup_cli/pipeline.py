"""The order of the stages, and the only module that knows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from newsdedup_cli import candidates, follow, increment, keep, obeyed, stripping, told, verify
from newsdedup_cli.checkpoint import Checkpoint
from newsdedup_cli.cluster import cluster
from newsdedup_cli.dates import parse_span
from newsdedup_cli.decision import classic_outcome, for_a_person, reasons
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.fingerprint import BOILERPLATE_ONLY
from newsdedup_cli.index import History, Index, Past, Staged
from newsdedup_cli.progress import Progress
from newsdedup_cli.report import shown
from newsdedup_cli.scan import Scanned, scan, signature_of
from newsdedup_cli.settings import Settings
from newsdedup_cli.tables import I64, SAME, U8, U64, Bools, Fingerprints, Outcome, Pairs, Verified
from newsdedup_cli.texts import TextStore, buffers
from newsdedup_cli.verify import guards


@dataclass
class Decided:
    """The rows of a corpus and what was decided of them."""

    scanned: Scanned
    fingerprints: Fingerprints
    outcome: Outcome
    texts: dict[int, str]  # row, from 1 -> its text as compared, of the few that report.html shows
    urls: dict[int, str]  # row, from 1 -> its url, of those that report.xlsx lists
    mentioned: told.Mentioned | None = None  # stored rows behind the new ones in all of this, with a history
    staged: Staged | None = None  # what is to be added to the index


def decide(
    corpus: Corpus,
    columns: Mapping[str, Sequence[Column]],
    settings: Settings,
    progress: Progress,
    *,
    threads: int = 1,
    limit: int | None = None,
    tmpdir: Path | None = None,
    decided: pa.Table | None = None,
    kept: Checkpoint | None = None,
    history: History | None = None,
    into: Index | None = None,
) -> Decided:
    """Find the copies among the rows of the corpus; `decided` are people's decisions, of decisions.SCHEMA.

    `kept` has what an earlier run that was stopped found out, and takes what this one does. With a history the rows
    are compared with its rows too; those of the corpus are staged to be added to the index `into`.
    """
    with opened(corpus, columns, settings, progress, threads=threads, limit=limit, tmpdir=tmpdir, kept=kept) as run:
        run.decided, run.history = decided, history
        outcome, scanned, mentioned = run.outcome(), run.scanned, None
        staged = None if into is None else increment.staged(run, outcome, into)
        at = np.arange(len(scanned.rows))
        if run.past is not None and history is not None:
            unknown = len(increment.unknown_pieces(run))
            outcome, scanned, mentioned = told.tell(outcome, run.past, scanned, history.rows, unknown)
            at = mentioned.order
        new = len(at) if mentioned is None else mentioned.rows
        texts = told.named(run.texts.gather, shown.rows_shown(outcome), at)
        listed = shown.rows_listed(outcome)
        urls = run.scanned.urls.named(listed[listed < new]) if run.scanned.urls else {}
        return Decided(scanned, run.new.batch.fingerprints, outcome, texts, urls, mentioned, staged)


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
    kept: Checkpoint | None = None,
) -> Iterator[Run]:
    """A run whose cleaned texts are at hand as long as the block lasts, for questions beyond its outcome."""
    with ExitStack() as stack:
        kept = kept or stack.enter_context(Checkpoint(tmpdir=tmpdir))
        with progress.stage("fingerprints") as advance:
            kept.open(lambda: signature_of(columns, settings.matching), bool(columns.get("url")), progress.say)
            scanned = scan(corpus, columns, settings, kept, threads, limit, advance)
        run = Run(scanned, kept.texts, settings, progress, threads)
        run.stored_texts = lambda: stack.enter_context(TextStore(tmpdir))
        yield run


class Run:
    """The stages after the first pass; what `prepare` finds stays for who asks."""

    boilerplate: U64  # hashes of the recurring pieces, ascending
    rank: I64  # [N] of a cluster the row of least rank stays
    representative: I64  # [N] the row that stands for all of one digest
    proposed: Pairs  # what any source of candidates gave
    chosen: Pairs  # those of them worth reading
    family: Bools  # [N] rows of one form, alike but for names and numbers
    known: Verified  # every pair that was verified, once `outcome` has run
    decided: pa.Table | None = None  # of decisions.SCHEMA
    obeyed: obeyed.Obeyed  # those that are about these rows
    history: History | None = None
    stored_texts: Callable[[], TextStore]  # a place for texts of the history
    past: Past | None = None  # the stored rows that matter: in all arrays [N] they come before the new ones
    alike: Verified  # the pairs that are alike or nearly so, whatever looks beyond one pair
    left_out: stripping.LeftOut

    def __init__(
        self, scanned: Scanned, texts: TextStore, settings: Settings, progress: Progress, threads: int
    ) -> None:
        self.scanned, self.progress, self.threads = scanned, progress, threads
        self.texts: TextStore | increment.JoinedTexts = texts
        self.new, self.new_texts = scanned, texts
        self.settings, self.matching = settings, settings.matching
        self.prints = scanned.batch.fingerprints
        window = parse_span(self.matching.window) if self.matching.window else 0
        self.order = candidates.Order(scanned.rows.date, 0, window, settings.keeping.keep == "first")

    def prepare(self) -> list[tuple[str, int]]:
        """Boilerplate out, candidates proposed; returns the boilerplate that the report lists."""
        with self.progress.stage("boilerplate"):
            self.left_out = stripping.learn(self.scanned, self.new_texts, self.matching, self._ranks())
            if self.history:
                self.left_out = increment.with_known(self.left_out, self.history.boilerplate())
            self.boilerplate = self.left_out.common
            stripping.strip(self.scanned, self.new_texts, self.matching, self.left_out, self.threads)
            if self.matching.boilerplate and self.matching.scope == "full":
                self.prints.alone[guards.foreign_bodies(self.prints, self.scanned.rows)] = BOILERPLATE_ONLY
        self.rank = self._ranks()
        if self.history:
            with self.progress.stage("history"):
                increment.join(self, self.history)
        with self.progress.stage("candidates"):
            sides = obeyed.sides_of(self.decided, self.scanned, self.prints.alone > 0)
            digest = obeyed.told_apart(sides, self.prints.digest, self.scanned.as_read)
            self.one_text = candidates.representatives(self.prints.digest, self.rank, self.prints.alone > 0)
            self.representative = self.one_text
            if self.order.window:  # rows of one text are copies only if they lie within it
                self.representative = np.arange(len(self.rank))
            elif digest is not self.prints.digest:
                self.representative = candidates.representatives(digest, self.rank, self.prints.alone > 0)
            self.obeyed = obeyed.obey(sides, self.representative, self.scanned.rows.id)
            urls = self.scanned.rows.url if self.scanned.rows.url.any() else None
            batch = self.scanned.batch
            self.proposed = candidates.propose(
                self.prints, self.representative, self.boilerplate, self.matching, urls, batch.pieces,
                batch.piece_rows, self.order,
            )  # fmt: skip
            worth = verify.plausible(self.proposed, self.prints)
            self.chosen = candidates.to_read(self.proposed, worth, self.prints, self.order)
            self.add_decided()
        return self.left_out.listed

    def add_decided(self) -> None:
        """Pairs under a decision are read whether or not anything proposes them."""
        more = self.obeyed.missing_from(self.chosen.a, self.chosen.b)
        self.chosen = candidates.with_more(self.chosen, *more, self.scanned.rows.url, self.prints)

    def measured(self) -> verify.Measured:
        """What the texts of the chosen pairs say."""
        with self.progress.stage("verification", len(self.chosen), "pairs") as advance:
            if isinstance(self.texts, increment.JoinedTexts):
                self.texts.load(np.concatenate([self.chosen.a, self.chosen.b]))
            return self.measure(self.chosen, advance)

    def measure(self, pairs: Pairs, advance: Callable[[int], None] = lambda _: None) -> verify.Measured:
        """What the texts of any pairs say."""
        gather, sizes = self.texts.gather, self.prints.significant
        return verify.measured(pairs, gather, self.matching, self.threads, advance, self.title_texts, sizes)

    def title_texts(self, some: I64) -> tuple[U8, I64]:
        """The cleaned titles of rows: data u1[B], offsets i8[R+1]."""
        return buffers(stripping.titles(self.scanned, some, self.matching))

    def judged(self, found: verify.Measured) -> Verified:
        """The chosen pairs with their verdicts by `matching`, which may have changed since they were measured."""
        edges = self._same_text(verify.judged(self.chosen, found, self.prints, self.scanned.rows, self.matching))
        self.alike = edges.where(follow.loose(edges))
        self.before = increment.before(self.past, self.history, len(self.prints))
        families = self.before.families.copy()
        node = self.before.node
        families.add(node[self.alike.a], node[self.alike.b], (self.alike.verdict == SAME).astype(np.uint8))
        self.family = families.among(node, guards.FAMILY)
        self._hold(edges)
        return edges

    def _hold(self, pairs: Verified) -> None:
        """The guards that look beyond one pair. What comes first stays: then the guard on families goes row by row."""
        if not self.order.by_rows:
            guards.hold_families(pairs, self.family)
        pairs.verdict[self.order.too_far(pairs.a, pairs.b)] = 0
        self.obeyed.hold(pairs)

    def _same_text(self, pairs: Verified) -> Verified:
        pairs.verdict[self.one_text[pairs.a] == self.one_text[pairs.b]] = SAME
        return pairs

    def outcome(self) -> Outcome:
        """All stages in order."""
        if self.matching.preset.startswith("classic"):
            return classic_outcome(self.scanned, self.settings)
        listed = self.prepare()
        edges = self.judged(self.measured())
        with self.progress.stage("clusters"):
            sure, kind = self.obeyed.decided_same(edges), self.order.by_rows
            settled, edges = follow.settled(edges, self.before, self.score, sure, kind, guards.FAMILY, guards.FORM)
            clusters, links = cluster(
                edges, self.representative, self.rank, self.prints.digest, self.score, self.obeyed.together, settled,
                self.order.past,
            )  # fmt: skip
        self.known = links.known.where(links.known.b >= self.order.past)
        equal = self.one_text[clusters.link.a] == self.one_text[clusters.link.b]
        clusters.link.shared_sentences[equal] = (self.prints.sentences[clusters.link.b[equal]] != 0).sum(axis=1)
        doubtful, decision, family = for_a_person(self.known, clusters, self.obeyed, self.prints.digest)
        return Outcome(
            clusters,
            self.prints.alone,
            reasons(clusters, self.one_text, self.matching.max_distance),
            doubtful,
            listed,
            len(self.proposed),
            len(self.chosen),
            decision,
            family,
            self.obeyed.counts if self.decided is not None else {},
            obeyed.summary(self.obeyed),
        )

    def _ranks(self) -> I64:
        prints, rows = self.prints, self.scanned.rows
        return keep.row_ranks(self.settings.keeping, rows, prints.significant, prints.digest, self.scanned.identity)

    def score(self, a: I64, b: I64) -> Verified:
        """Any pairs a < b of rows, verified as `run` verifies them."""
        pairs = candidates.with_figures(a, b, self.scanned.rows.url, self.prints)
        found = verify.judged(pairs, self.measure(pairs), self.prints, self.scanned.rows, self.matching)
        self._hold(self._same_text(found))
        return found
