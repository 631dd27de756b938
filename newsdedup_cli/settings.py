"""Every default, its unit and its reason. Frozen, read from TOML, and signed."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from newsdedup_cli.errors import UserError, visible

SCOPES = ("full", "lead", "title")
KEEPS = ("auto", "first", "earliest", "latest", "longest", "source")
PRESETS = ("fast", "default", "thorough", "classic-simhash", "classic-nshash")
VERIFIERS = ("shingles", "ratio", "none")
ENGINES = ("local",)


def documented(default: Any, doc: str) -> Any:
    """A field with its unit and reason beside it; `--print-config` prints them as comments."""
    return field(default=default, metadata={"doc": doc})


@dataclass(frozen=True)
class Columns:
    """Which column plays which part, by name or #N; None is guessed from the header."""

    id: str | None = documented(None, "names a row in the report; the row number where there is none")
    title: str | None = documented(None, "headline")
    text: tuple[str, ...] = documented((), "compared; several are joined by a line end")
    date: str | None = documented(None, "for --keep earliest and latest")
    source: str | None = documented(None, "outlet, for --keep source")
    url: str | None = documented(None, "rows of one url are versions of one article")


@dataclass(frozen=True)
class Matching:
    """What makes two rows copies."""

    preset: str = documented("default", f"one of {', '.join(PRESETS)}")
    scope: str = documented("full", "full text; lead: title and the first 200 characters; title: titles only")
    max_distance: int = documented(8, "bits; simhash proposes pairs up to it (measured: 8 finds .70-.87 of copies)")
    min_score: float = documented(0.62, "score from which a verified pair is a copy")
    near_score: float = documented(0.45, "score from which a pair that is no copy is listed for a person")
    contained: float = documented(0.75, "share of the shorter text's shingles in the longer: `contained_in`")
    short_text: int = documented(60, "significant characters under which only equal texts are copies")
    too_short: int = documented(6, "significant characters under which a row is compared with nothing")
    least_words: int = documented(8, "distinct words a text needs for its simhash to propose a pair")
    sentences: int = documented(5, "longest sentences kept per row as candidates' keys")
    least_sentence: int = documented(10, "significant characters a sentence needs to propose a pair")
    least_piece: int = documented(4, "significant characters a sentence needs to be learnt as boilerplate")
    numbers: str = documented("guard", "guard: clauses equal but for figures keep a pair apart; or ignore")
    opposites: bool = documented(True, "clauses equal but for opposite words keep a pair apart")
    boilerplate: bool = documented(True, "learn sentences that recur in otherwise different rows, and leave them out")
    boilerplate_rows: int = documented(6, "otherwise different rows that make a sentence boilerplate")
    boilerplate_file: str | None = documented(None, "more boilerplate, one sentence or line each")
    minhash: bool = documented(True, "min-hash keys of the shingles propose pairs too")
    verify: str = documented("shingles", f"one of {', '.join(VERIFIERS)}")
    versions: str = documented("all", "rows of one url: all that differ are kept; keep-latest: they are merged")
    fold_script: bool = documented(False, "compare traditional characters as simplified (needs the extra `fold`)")
    weights: str = documented("capped", "simhash features: words, each at most 3 times; or tf (every token, as posted)")
    sentence_ends: str = documented("code", "classic-nshash: split as version 0.7's code does, or as described")
    userdict: str | None = documented(None, "a jieba user dictionary")
    window: str | None = documented(None, "rows further apart in time are never one story, such as 7d; needs a date")
    year: str | None = documented(None, "of dates that are written without one, such as 11-30 08:15")


@dataclass(frozen=True)
class Keeping:
    """Which row of a cluster stays."""

    keep: str = documented("auto", f"one of {', '.join(KEEPS)}; auto: earliest where dates are known, else longest")
    prefer_source: tuple[str, ...] = documented((), "for keep = source: most preferred first")
    mark: bool = documented(False, "write all rows, with our columns appended")


@dataclass(frozen=True)
class Settings:
    """All that can change the result of a run, and nothing else (threads, paths and the like are not here)."""

    columns: Columns = field(default_factory=Columns)
    matching: Matching = field(default_factory=Matching)
    keeping: Keeping = field(default_factory=Keeping)

    def signature(self) -> str:
        """Sixteen hex digits that change with any setting or with the version of the rules."""
        from newsdedup_cli import __version__

        text = json.dumps(asdict(self) | {"version": __version__}, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


# What a preset sets; an option given by the user wins over it.
PRESET_VALUES: dict[str, dict[str, Any]] = {
    "fast": {"minhash": False, "max_distance": 6},
    "default": {},
    "thorough": {"max_distance": 10, "sentences": 8},
    "classic-simhash": {
        "max_distance": 4,
        "weights": "tf",
        "verify": "none",
        "numbers": "ignore",
        "opposites": False,
        "boilerplate": False,
        "minhash": False,
    },
    "classic-nshash": {
        "verify": "none",
        "numbers": "ignore",
        "opposites": False,
        "boilerplate": False,
        "minhash": False,
    },
}
# Titles: the posts' own distance; short texts are the rule here, so near ones may be copies, from a higher score.
TITLE_SCOPE = {"max_distance": 3, "least_words": 3, "short_text": 8, "min_score": 0.8, "least_sentence": 6}

CHOICES = {
    "preset": PRESETS,
    "scope": SCOPES,
    "keep": KEEPS,
    "verify": VERIFIERS,
    "numbers": ("guard", "ignore"),
    "versions": ("all", "keep-latest"),
    "weights": ("capped", "tf"),
    "sentence_ends": ("code", "described"),
}

LIMITS = {"max_distance": 64, "sentences": 32}


def settings_from(given: dict[str, dict[str, Any]]) -> Settings:
    """Settings from sections of plain values; presets and scopes fill in what is not given.

    Raises UserError for an unknown section, name or value.
    """
    sections: dict[str, Any] = {"columns": Columns, "matching": Matching, "keeping": Keeping}
    for section, values in given.items():
        if section not in sections or not isinstance(values, dict):
            raise UserError(f"unknown section [{section}] in the configuration", wanted=", ".join(sections))
    parts = {name: _part(kind, given.get(name, {})) for name, kind in sections.items()}
    matching = parts["matching"]
    filled = PRESET_VALUES[matching.preset] | (TITLE_SCOPE if matching.scope == "title" else {})
    missing = {name: value for name, value in filled.items() if name not in given.get("matching", {})}
    keeping = parts["keeping"]
    if matching.versions == "keep-latest" and "keep" not in given.get("keeping", {}):
        keeping = replace(keeping, keep="latest")
    return Settings(parts["columns"], replace(matching, **missing), keeping)


def _part(kind: Any, given: dict[str, Any]) -> Any:
    known = {f.name: f for f in fields(kind)}
    values = {}
    for name, value in given.items():
        if name not in known:
            raise UserError(f"unknown setting {visible(name)}", wanted=f"one of {', '.join(known)}")
        if name in CHOICES and value not in CHOICES[name]:
            raise UserError(f"{name} = {visible(str(value))}", wanted=f"one of {', '.join(CHOICES[name])}")
        values[name] = _typed(name, tuple(value) if isinstance(value, list) else value, str(known[name].type))
    return kind(**values)


_WANTED = {
    "int": "a whole number",
    "float": "a number from 0 to 1",
    "bool": "true or false",
    "tuple[str, ...]": "a list of texts",
}


def _typed(name: str, value: Any, annotation: str) -> Any:
    """The value, if it is of the field's type: click checks the options, but nobody a file."""
    most = LIMITS.get(name)
    fits = {
        "int": type(value) is int and 0 <= value <= (most or value),
        "float": type(value) in (int, float) and 0 <= value <= 1,
        "bool": type(value) is bool,
        "tuple[str, ...]": type(value) is tuple and all(type(item) is str for item in value),
    }.get(annotation, type(value) is str)
    if not fits:
        shown = visible(value) if type(value) is str else value
        wanted = _WANTED.get(annotation, "a text") + (f" from 0 to {most}" if most else "")
        raise UserError(f"{name} = {shown}", wanted=wanted)
    return value


def read_config(path: Path) -> dict[str, dict[str, Any]]:
    """The sections of a TOML file. Raises UserError where it cannot be read."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is no TOML: {error}", todo="newsdedup run --print-config > newsdedup.toml") from error


def as_toml(settings: Settings) -> str:
    """The settings as commented TOML that `read_config` reads back.

    >>> settings_from(tomllib.loads(as_toml(Settings()))) == Settings()
    True
    """
    lines = ["# Settings of newsdedup: what is commented out is not set."]
    for section in fields(settings):
        lines += ["", f"[{section.name}]"]
        part = getattr(settings, section.name)
        for item in fields(part):
            value = getattr(part, item.name)
            lines.append(f"# {item.metadata['doc']}")
            lines.append(f"# {item.name} = ..." if value is None else f"{item.name} = {_toml_value(value)}")
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
