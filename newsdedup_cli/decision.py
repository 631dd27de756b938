"""What follows from clusters: reasons, candidates, and the outcome of the classic recipes."""

from __future__ import annotations

import numpy as np

from newsdedup_cli import classic
from newsdedup_cli.kernels import join
from newsdedup_cli.obeyed import Obeyed
from newsdedup_cli.scan import Scanned
from newsdedup_cli.settings import Settings
from newsdedup_cli.tables import I64, REASONS, SAME, U8, U64, VERDICTS, Bools, Clusters, Outcome, Verified

# Verdicts of pairs of one form; a family of so many rows with so many pairs a row is listed with so many pairs.
OF_FORM = [VERDICTS.index(name) for name in ("numbers_differ", "near", "short_text")]
FAMILY_ROWS, MANY_PAIRS, FAMILY_PAIRS = 12, 2, 5
EXACT, SIMHASH, SENTENCE = map(REASONS.index, ("exact", "simhash", "sentence"))


def classic_outcome(scanned: Scanned, settings: Settings) -> Outcome:
    """The rows as a published recipe decides them: no verifier, no guards, no candidates."""
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


def for_a_person(known: Verified, clusters: Clusters, obeyed: Obeyed, digest: U64) -> tuple[Verified, U8, I64]:
    """The verified pairs that are doubtful and not in one cluster after all, what a person decided of each, and the
    rows of the family that it stands for (0: only for itself)."""
    apart = clusters.similar_id[known.a] != clusters.similar_id[known.b]
    found, decision = obeyed.as_before(known)
    listed = (found.verdict != 0) & (found.verdict != SAME) & apart
    found, decision = found.where(listed), decision[listed]
    shown, family = folded(found, decision, digest)
    return found.where(shown), decision[shown], family[shown]


def folded(pairs: Verified, decision: U8, digest: U64) -> tuple[Bools, I64]:
    """Which of the doubtful pairs are listed, and how many rows the family of each has, 0 if it is none.

    Rows of one form that are filled in every day are doubtful all with all. A family of many rows is listed with its
    most alike pairs; a pair that a person decided stays in any case. Ties are told by digest u8[N,2].
    """
    of_form = np.isin(pairs.verdict, OF_FORM)
    rows = len(digest)
    label = join.components(rows, pairs.a[of_form], pairs.b[of_form])
    sizes = np.bincount(label, minlength=rows)
    every = np.bincount(label[pairs.a[of_form]], minlength=rows)
    of = label[pairs.a]
    many = of_form & (sizes[of] >= FAMILY_ROWS) & (every[of] >= MANY_PAIRS * sizes[of])
    order = np.flatnonzero(many)
    one, other = digest[pairs.a[order], 0], digest[pairs.b[order], 0]
    keys = [np.maximum(one, other), np.minimum(one, other), -pairs.score[order], of[order]]
    order = order[np.lexsort(keys)]
    place = np.arange(len(order)) - np.searchsorted(of[order], of[order])
    shown: Bools = ~many | (decision > 0)
    shown[order[place < FAMILY_PAIRS]] = True
    return shown, np.where(many, sizes[of], 0)
