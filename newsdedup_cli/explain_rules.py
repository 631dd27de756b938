"""The rules that decide about a pair, each with its figure, its threshold and what it says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from newsdedup_cli import classic, pipeline, verify
from newsdedup_cli.kernels import text
from newsdedup_cli.tables import BAND, MINHASH, SENTENCE, UNKNOWN, URL, VERDICTS, Pairs
from newsdedup_cli.verify import guards, shingles

DAY = 86_400 * 1_000_000  # microseconds
SOURCES = ((SENTENCE, "shared sentences"), (BAND, "fingerprint"), (MINHASH, "shared passages"), (URL, "url"))
APART, ALIKE, PROPOSES = "apart", "same", "proposes"


@dataclass(frozen=True)
class Rule:
    """One rule: what it looks at, its figure for this pair, its threshold, and what it says (or nothing)."""

    name: str
    figure: str
    threshold: str
    says: str = ""


@dataclass(frozen=True)
class Measures:
    """A pair of rows (those that stand for all of their text) with its figures."""

    a: int
    b: int
    pair: Pairs
    found: verify.Measured
    origin: int  # where the pair was proposed from, 0 for nowhere
    equal: bool  # texts


def rules_of(m: Measures, run: pipeline.Run) -> list[Rule]:
    """All rules, in the order in which they are asked."""
    rules = [Rule("cleaned texts", "equal" if m.equal else "different", "equal", ALIKE if m.equal else "")]
    rules += _proposing(m, run)
    if run.matching.verify != "none" and not run.matching.preset.startswith("classic"):
        rules += [*_scoring(m, run), *_guarding(m, run)]
    return rules


def _proposing(m: Measures, run: pipeline.Run) -> list[Rule]:
    prints, matching = run.prints, run.matching
    if matching.preset == "classic-nshash":
        return [_published_sentences(m, run)]
    bits = int(m.pair.distance[0])
    shared = int(m.pair.shared_sentences[0])
    words = [int(prints.features[row]) for row in (m.a, m.b)]
    published = matching.preset == "classic-simhash"
    near = bits <= matching.max_distance and (published or min(words) >= matching.least_words)
    least = "" if published else f", from {matching.least_words} words on"
    rules = [
        Rule(
            "distance",
            f"{bits} bits ({words[0]} and {words[1]} words)",
            f"at most {matching.max_distance}{least}",
            PROPOSES if near else "",
        ),
        Rule(
            "shared longest sentences",
            f"{shared} of {matching.sentences}",
            "at least 1 that is no boilerplate",
            PROPOSES if m.origin & SENTENCE else "",
        ),
    ]
    if published:
        return rules[:1]
    if matching.minhash:
        a, b = prints.keys[m.a], prints.keys[m.b]
        common = int(((a == b) & (a != 0)).sum())
        rules.append(
            Rule("shared passage keys", f"{common} of {len(a)}", "at least 1", PROPOSES if m.origin & MINHASH else "")
        )
    said = ", ".join(name for bit, name in SOURCES if m.origin & bit)
    told = "not needed, the texts are equal" if m.equal else f"by {said}" if said else "by nothing"
    return [*rules, Rule("proposed", told, "by any source")]


def _published_sentences(m: Measures, run: pipeline.Run) -> Rule:
    ends = run.matching.sentence_ends
    first, second = (set(classic.longest_sentences(run.scanned.raw[row], ends)) for row in (m.a, m.b))
    shared = len(first & second)
    return Rule("shared longest sentences", f"{shared} of {classic.LONGEST}", "at least 1", PROPOSES if shared else "")


def _scoring(m: Measures, run: pipeline.Run) -> list[Rule]:
    matching = run.matching
    codes, offsets = text.significant_codes(*run.texts.gather(np.array([m.a, m.b])))
    zero, one = np.array([0]), np.array([1])
    jaccard, containment, left = (float(x[0]) for x in shingles.shingle_shares(codes, offsets, zero, one))
    share = float(shingles.covered(codes, offsets, zero, one)[0])
    long = int(np.diff(offsets).max()) > shingles.LONGEST
    ratio = "not computed" if long else f"{float(shingles.edit_ratio(codes, offsets, zero, one)[0]):.3f}"
    sizes = [int(run.prints.significant[row]) for row in (m.a, m.b)]
    score = float(m.found.figures.score[0])
    within = containment >= matching.contained and min(sizes) < guards.CONTAINED_RATIO * max(sizes)
    ends = int(m.found.figures.ends[0])
    told = ("neither begin nor end", "only the begin", "only the end", "begin and end, or not asked for")
    return [
        Rule("Jaccard of 5-character passages", f"{jaccard:.3f}", f"{shingles.SURE} decides alone"),
        Rule(
            "characters in the same order",
            ratio,
            f"{shingles.IN_ORDER} counts, {shingles.IN_ORDER_LONG} from {shingles.LONG} characters, at a Jaccard of "
            f"{shingles.HOPELESS}-{shingles.SURE}",
        ),
        Rule(
            "containment",
            f"{containment:.3f}",
            f"{matching.contained} in a text under {guards.CONTAINED_RATIO} of the other: an excerpt",
            "excerpt" if within else "",
        ),
        Rule(
            "of the shorter text in the longer, but for small changes",
            f"{share:.3f}",
            f"{shingles.COVERED} is nothing new, at a containment of {shingles.CHANGED} or more",
        ),
        Rule("ends alike", told[ends], "for texts with parts left out, and briefs"),
        Rule(
            "share of the longer text that is left",
            f"{left:.3f}",
            f"at least {shingles.LEAST_LEFT[ends]:.2f} with such ends for a text with parts left out",
        ),
        Rule(
            "lengths",
            f"{sizes[0]:,} and {sizes[1]:,} characters",
            f"under {matching.short_text}: only equal texts are copies",
            APART if min(sizes) < matching.short_text and not m.equal else "",
        ),
        Rule(
            "score", f"{score:.3f}", f"at least {matching.min_score:g}", ALIKE if score >= matching.min_score else APART
        ),
    ]


def _guarding(m: Measures, run: pipeline.Run) -> list[Rule]:
    rows, matching = run.scanned.rows, run.matching
    strong, weak, changed = (int(n) for n in m.found.differing[0])
    held = other_news(m, run)
    known = rows.url[m.a] and rows.url[m.b]
    url = ("the same" if rows.url[m.a] == rows.url[m.b] else "different") if known else "not both known"
    date_a, date_b = (int(rows.date[row]) for row in (m.a, m.b))
    days = "unknown" if UNKNOWN in (date_a, date_b) else f"{abs(date_a - date_b) / DAY:.1f} days apart"
    alike = float(guards.title_similarity(rows.title_bits, np.array([m.a]), np.array([m.b]))[0])
    titled = rows.title_bits[[m.a, m.b]].any(axis=1).all()
    support = [f"{float(rows.title_support[row]):.2f}" for row in (m.a, m.b)]
    family = bool(run.family[m.a] and run.family[m.b])
    count = f"{strong} clauses, {weak} with Chinese numerals or negations, of {changed} changed"
    differs = bool(guards.in_figures(m.found.differing, m.found.figures.score)[0])
    return [
        Rule("clauses equal but for a number or its opposite", count, "none", APART if differs else ""),
        Rule(
            "titles",
            f"{alike:.2f} alike, supported {support[0]} and {support[1]} by the texts" if titled else "not both known",
            f"{guards.SAME_TITLE} alike, or one supported {guards.SUPPORT}",
            APART if "titles" in held else "",
        ),
        Rule(
            "each title about its own text alone",
            "yes" if "own titles" in held else "no",
            f"from a score of {guards.FORM} on",
            APART if "own titles" in held else "",
        ),
        Rule(
            "dates",
            days,
            f"over {guards.RECURRING // DAY} days from a score of {guards.ANEW} on",
            APART if "dates" in held else "",
        ),
        Rule(
            "brief with other news",
            "yes" if "brief" in held else "no",
            f"under {guards.BRIEF} characters from a score of {guards.BRIEF_SCORE} on, "
            f"from {guards.BRIEF_ALIKE} if they begin alike",
            APART if "brief" in held else "",
        ),
        Rule(
            "family of one form",
            "both in one" if family else "no",
            f"from a score of {guards.FORM} on",
            APART if family and float(m.found.figures.score[0]) < guards.FORM else "",
        ),
        Rule("url", url, f"one url: versions, --versions {matching.versions}"),
    ]


def other_news(m: Measures, run: pipeline.Run) -> list[str]:
    """Which of the signs of other news in one form (guards.verdicts) the pair has: dates, brief, titles, own titles."""
    rows, prints = run.scanned.rows, run.prints
    score, ends = float(m.found.figures.score[0]), int(m.found.figures.ends[0])
    dates = [int(rows.date[row]) for row in (m.a, m.b)]
    signs = []
    if UNKNOWN not in dates and abs(dates[0] - dates[1]) > guards.RECURRING and score < guards.ANEW:
        signs.append("dates")
    shorter = int(min(prints.significant[m.a], prints.significant[m.b]))
    if shorter < guards.BRIEF and score < (guards.BRIEF_ALIKE if ends & 1 else guards.BRIEF_SCORE):
        signs.append("brief")
    alike = float(guards.title_similarity(rows.title_bits, np.array([m.a]), np.array([m.b]))[0])
    if max(rows.title_support[m.a], rows.title_support[m.b]) < guards.SUPPORT and alike < guards.SAME_TITLE:
        signs.append("titles")
    if m.found.other_titles[0] and score < guards.FORM:
        signs.append("own titles")
    return signs


def held_by(m: Measures, run: pipeline.Run, verdict: int, score: float) -> str:
    """Why a pair with this verdict (not `same`) is kept apart, in words."""
    matching = run.matching
    code = VERDICTS[verdict]
    if code == "numbers_differ":
        strong, weak, _ = (int(n) for n in m.found.differing[0])
        clauses = "1 clause that is" if strong + weak == 1 else f"{strong + weak} clauses that are"
        return (
            f"score {score:.3f} would do, but they differ in a number or an opposite in {clauses} equal otherwise "
            "(numbers_differ)"
        )
    told = {
        "contained_in": "one is an excerpt of the other, or a longer report around it (contained_in)",
        "short_text": f"one has under {matching.short_text} characters, where only equal texts are copies (short_text)",
        "same_url": "they are versions under one url, and --versions all keeps both (same_url)",
    }
    if code in told:
        return f"score {score:.3f}, but {told[code]}"
    if score < matching.min_score:
        near = f", near enough to be listed ({code})" if code else ""
        return f"their texts score {score:.3f}, under {matching.min_score:g}{near}"
    signs = {
        "dates": "one form comes back after more than a month",
        "brief": "they are briefs that begin with other news",
        "titles": "neither title is supported by its text, and the titles differ",
        "own titles": "each title speaks of its own text and not of the other",
    }
    family = "both belong to a family of one form, alike but for names and numbers"
    why = " and ".join(signs[sign] for sign in other_news(m, run)) or family
    return f"score {score:.3f} would do, but {why} ({code})"
