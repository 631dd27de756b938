"""The rows of an index as what came before: an `online.Seen` filled at once."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from newsdedup_cli import __version__
from newsdedup_cli.errors import UserError
from newsdedup_cli.evidence import Evidence, from_arrow
from newsdedup_cli.follow import Families
from newsdedup_cli.growing import grown
from newsdedup_cli.index.lookup import positions
from newsdedup_cli.index.manifest import FREE
from newsdedup_cli.index.store import BOILERPLATE, LINKS, Index, numbers_of
from newsdedup_cli.online import PAGE, PIECE, Seen, columns_of
from newsdedup_cli.settings import Matching
from newsdedup_cli.tables import I64, U64
from newsdedup_cli.texts import buffers

ROWS = ("number", "representative", "kept_row")


def opened(folder: Path, tmpdir: Path | None) -> tuple[Seen, list[str | None]]:
    """All texts of the index, one of each digest, and the id of the row that stays of each cluster.

    Reads the whole index once, half a minute for a million rows. Raises UserError where another version made it.
    """
    with Index(folder, None) as index:
        lines = index.table("boilerplate", BOILERPLATE)
        left_out = lines["left_out"].combine_chunks().to_numpy(zero_copy_only=False)
        hashes = lines["hash"].combine_chunks().to_numpy().astype(np.uint64)
        seen = Seen(
            _matching(folder, index.manifest.settings), tmpdir, (np.unique(hashes), np.unique(hashes[left_out]))
        )
        parts = [
            _read(seen, table) for part in index.parts("rows") for table in index.groups(part, _names(index, part))
        ]
        links = index.table("links", LINKS)
    if not parts:
        return seen, []
    return seen, _fill(seen, parts, links)


def _names(index: Index, part: Any) -> list[str]:
    import pyarrow.parquet as pq

    return [name for name in pq.read_schema(index.folder / part.path).names if name != "url_text"]


def _matching(folder: Path, settings: dict[str, Any]) -> Matching:
    if settings.get("version") != __version__:
        raise UserError(
            f"{folder} was made by newsdedup {settings.get('version')}, this is {__version__}",
            todo=f"newsdedup index build {folder}-new INPUT...",
        )
    for name in ("boilerplate_file", "userdict"):
        if settings.get(name):
            raise UserError(f"{folder} was made with --{name.replace('_', '-')}", wanted="an index without it")
    known = {field.name for field in fields(Matching)} - set(FREE)
    return Matching(**{name: value for name, value in settings.items() if name in known})


def _read(seen: Seen, table: pa.Table) -> tuple[Evidence, dict[str, I64], I64]:
    """The rows of a table that can be compared, what the index says of them, and where their texts lie."""
    said = {name: numbers_of(table, name) for name in ROWS}
    some = np.flatnonzero((said["representative"] == said["number"]) & (numbers_of(table, "alone") == 0))
    table = table.take(pa.array(some))
    rows = from_arrow(table)
    texts, titles = buffers(rows.cleaned), buffers(rows.rows.title.fill_null(""))
    sizes = np.stack([np.diff(texts[1]), np.diff(titles[1])], axis=1)
    place = np.empty((len(rows), 3), np.int64)
    start = seen.write(_slice(*texts)), seen.write(_slice(*titles))
    place[:, 0] = start[0] + np.cumsum(sizes[:, 0]) - sizes[:, 0]
    place[:, 1] = sizes[:, 0]
    place[:, 2] = sizes[:, 1]
    titles_at = start[1] + np.cumsum(sizes[:, 1]) - sizes[:, 1]
    rows.cleaned = None
    return rows, {name: values[some] for name, values in said.items()}, np.column_stack([place, titles_at])


def _slice(data: Any, offsets: I64) -> bytes:
    return bytes(data[offsets[0] : offsets[-1]].tobytes())


def _fill(seen: Seen, parts: list[tuple[Evidence, dict[str, I64], I64]], links: pa.Table) -> list[str | None]:
    number = np.concatenate([said["number"] for _, said, _ in parts])
    order = np.argsort(number, kind="stable")
    number, n = number[order], len(number)

    def whole(name: str, of: str) -> Any:
        owners = [getattr(rows.batch, "fingerprints") if of == "prints" else rows.rows for rows, _, _ in parts]  # noqa: B009
        return np.concatenate([getattr(owner, name) for owner in owners])[order]

    values = {name: whole(name, "prints") for name in ("simhash", "sentences", "sketch", "significant")}
    values |= {"support": whole("title_support", "rows"), "bits": whole("title_bits", "rows")}
    values |= {name: whole(name, "rows") for name in ("date", "url")}
    values["place"] = np.concatenate([place for _, _, place in parts])[order]
    kept = positions(number, np.concatenate([said["kept_row"] for _, said, _ in parts])[order])
    values["keeper"] = np.where(kept < 0, np.arange(n), kept)
    heads, values["similar_id"] = np.unique(values["keeper"], return_inverse=True)
    values |= _families(n, number, links)
    for name, found in values.items():
        seen.of[name] = grown(seen.of[name], n)
        seen.of[name][:n] = found
    seen.rows = seen.loaded = n
    seen.clusters = len(heads)
    digest = np.ascontiguousarray(whole("digest", "prints"))
    raw = digest.tobytes()
    seen.exact = {raw[16 * i : 16 * i + 16]: i for i in range(n - 1, -1, -1)}
    _index(seen, parts, order, whole("keys", "prints"), values["url"])
    worded = np.flatnonzero(whole("features", "prints") >= seen.matching.least_words).astype(np.int32)
    seen.nearby.fill(values["simhash"][worded], worded)
    ids = pa.concat_arrays([rows.rows.id for rows, _, _ in parts]).take(pa.array(order[heads]))
    found_ids: list[str | None] = ids.to_pylist()
    return found_ids


def _families(n: int, number: I64, links: pa.Table) -> dict[str, I64]:
    a, b = (positions(number, numbers_of(links, name)) for name in ("a", "b"))
    there = (a >= 0) & (b >= 0)
    made = Families.of(n, a[there], b[there], numbers_of(links, "same").astype(np.uint8)[there])
    return {name: getattr(made, name) for name in ("parent", "size", "alike", "every")}


def _index(seen: Seen, parts: list[tuple[Evidence, dict[str, I64], I64]], order: I64, keys: Any, url: U64) -> None:
    """Sentences, min-hash keys and urls of all rows, in their order."""
    pieces = np.concatenate([rows.batch.pieces for rows, _, _ in parts])
    sizes = np.concatenate([np.diff(rows.batch.piece_rows) for rows, _, _ in parts])
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    rows = np.repeat(place, sizes)
    stays = ~np.isin(pieces, seen.common)
    pieces, rows = pieces[stays], rows[stays]
    by_row = np.argsort(rows, kind="stable")
    seen.chains.insert(pieces[by_row] ^ PIECE, rows[by_row])
    everyone = np.arange(len(order), dtype=np.int32)
    if seen.matching.minhash:
        seen.chains.insert(columns_of(keys).reshape(-1), np.repeat(everyone, keys.shape[1]))
    has = np.flatnonzero(url)
    seen.chains.insert(url[has] ^ PAGE, has.astype(np.int32))
