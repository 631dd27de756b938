"""Settings: presets, files, signatures, and what is wrong with them."""

from __future__ import annotations

import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest

from newsdedup_cli.errors import UserError
from newsdedup_cli.settings import (
    CHOICES,
    PRESETS,
    SCOPES,
    TITLE_SCOPE,
    Columns,
    Keeping,
    Matching,
    Settings,
    as_toml,
    read_config,
    settings_from,
)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("scope", SCOPES)
def test_toml_there_and_back(preset, scope):
    made = settings_from({"matching": {"preset": preset, "scope": scope}, "columns": {"text": ["a", "正文"]}})
    assert settings_from(tomllib.loads(as_toml(made))) == made


def test_every_field_is_documented():
    for part in (Columns, Matching, Keeping):
        for field in fields(part):
            assert len(field.metadata["doc"]) > 5, field.name
            assert f"# {field.metadata['doc']}\n" in as_toml(Settings())


def test_what_is_given_wins_over_preset_and_scope():
    made = settings_from({"matching": {"preset": "classic-simhash", "max_distance": 7}}).matching
    assert (made.max_distance, made.weights, made.verify, made.boilerplate) == (7, "tf", "none", False)
    made = settings_from({"matching": {"scope": "title", "min_score": 0.7}}).matching
    assert made.min_score == 0.7
    assert made.max_distance == TITLE_SCOPE["max_distance"]
    assert settings_from({}) == Settings()


def test_any_setting_changes_the_signature():
    made = {Settings().signature()}
    for part in ("columns", "matching", "keeping"):
        default = getattr(Settings(), part)
        for field in fields(default):
            value = getattr(default, field.name)
            other = not value if isinstance(value, bool) else 1 + (value if isinstance(value, int | float) else 0)
            made.add(replace(Settings(), **{part: replace(default, **{field.name: other})}).signature())
    assert len(made) == 1 + sum(len(fields(part)) for part in (Columns, Matching, Keeping))
    assert all(len(s) == 16 and int(s, 16) >= 0 for s in made)


WRONG = [
    ({"nix": {}}, "unknown section [nix] in the configuration\n  wanted: columns, matching, keeping"),
    ({"matching": 3}, "unknown section [matching] in the configuration\n  wanted: columns, matching, keeping"),
    ({"keeping": {"keep": "newest"}}, f"keep = 'newest'\n  wanted: one of {', '.join(CHOICES['keep'])}"),
    ({"matching": {"max_distance": "8"}}, "max_distance = '8'\n  wanted: a whole number from 0 to 64"),
    ({"matching": {"max_distance": 65}}, "max_distance = 65\n  wanted: a whole number from 0 to 64"),
    ({"matching": {"max_distance": True}}, "max_distance = True\n  wanted: a whole number from 0 to 64"),
    ({"matching": {"min_score": 1.5}}, "min_score = 1.5\n  wanted: a number from 0 to 1"),
    ({"matching": {"minhash": 1}}, "minhash = 1\n  wanted: true or false"),
    ({"matching": {"userdict": 1}}, "userdict = 1\n  wanted: a text"),
    ({"columns": {"text": "content"}}, "text = 'content'\n  wanted: a list of texts"),
    ({"columns": {"nix": "a"}}, "unknown setting 'nix'\n  wanted: one of id, title, text, date, source, url"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_wrong_settings(given, message):
    with pytest.raises(UserError) as error:
        settings_from(given)
    assert str(error.value) == message


def test_files_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(UserError, match="No such file"):
        read_config(tmp_path / "nix.toml")
    (tmp_path / "latin.toml").write_bytes(b"a = '\xe9'")
    with pytest.raises(UserError, match=r"is no TOML"):
        read_config(tmp_path / "latin.toml")


def test_an_integer_does_for_a_number():
    assert settings_from({"matching": {"min_score": 1}}).matching.min_score == 1
