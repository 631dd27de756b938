"""Which column plays which part."""

from __future__ import annotations

from newsdedup_cli.errors import UserError
from newsdedup_cli.files.corpus import Column, Corpus
from newsdedup_cli.progress import Progress
from newsdedup_cli.settings import Settings


def resolve_columns(corpus: Corpus, settings: Settings, progress: Progress, what: str = "") -> dict[str, list[Column]]:
    """The column of each role: as given, else guessed from the header and said, after `what` it is about."""
    guessed = corpus.guess_roles()
    chosen: dict[str, list[Column]] = {}
    said = []
    for role in ("id", "title", "text", "date", "source", "url"):
        given = getattr(settings.columns, role)
        names = given if role == "text" else (given,) if given else ()
        if names:
            chosen[role] = [corpus.resolve(name, f"--{role}") for name in names]
        elif role in guessed:
            chosen[role] = [corpus.resolve(_spec(column), f"--{role}") for column in guessed[role]]
            said.append(f"{role}={'|'.join(column.label for column in guessed[role])}")
    if said:
        progress.say(f"{what}columns guessed: {', '.join(said)}")
    needed = "title" if settings.matching.scope == "title" else "text"
    if needed not in chosen and corpus.columns:
        names = ", ".join(column.label for column in corpus.columns)
        raise UserError(
            f"{what}no column looks like the {needed}",
            wanted=f"one of {names}",
            todo=_other_delimiter(corpus) or f"--{needed} {_typed(corpus.columns[0])}",
        )
    return chosen


def _spec(column: Column) -> str:
    return f"#{column.position + 1}" if not column.path else column.label


def _other_delimiter(corpus: Corpus) -> str | None:
    """The option that helps where a header was read as one column and has a delimiter in it."""
    if len(corpus.columns) > 1 or corpus.sources[0].format not in ("csv", "tsv"):
        return None
    found = [delimiter for delimiter in ",;\t|" if delimiter in corpus.columns[0].name]
    return f"--delimiter {'tab' if found[0] == chr(9) else repr(found[0])}" if found else None


def _typed(column: Column) -> str:
    """A column as a shell takes it: by its number where its name is hard to type."""
    plain = column.label.isprintable() and not set(column.label) & set(" \"'$`\\!&|;<>(){}[]*?~#\ufffd")
    return column.label if plain else f"'#{column.position + 1}'"
