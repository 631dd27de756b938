"""What follows from clusters: reasons, candidates, and the outcome of the classic recipes."""

from __future__ import annotations

import numpy as np

from newsdedup_cli import classic
from newsdedup_cli.scan import Scanned
from newsdedup_cli.settings import Settings
from newsdedup_cli.tables import I64, REASONS, SAME, U8, Clusters, Outcome, Verified

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


def for_a_person(known: Verified, clusters: Clusters, representative: I64) -> Verified:
    """The verified pairs that are doubtful and not in one cluster after all."""
    apart = clusters.similar_id[known.a] != clusters.similar_id[known.b]
    return known.where((known.verdict != 0) & (known.verdict != SAME) & apart)
