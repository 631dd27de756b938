"""Encodings: found by evidence, bad bytes replaced and counted."""

import codecs
import gzip
import io

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from newsdedup_cli.errors import UserError
from newsdedup_cli.files.encoding import Utf8Reader, checked_name, detect
from newsdedup_cli.files.streams import ByteReader

CHINESE = "编号,标题\n1,县城关镇昨日举行春耕农机检修活动，机手把拖拉机开到广场。一场大雨\n" * 3
TAIWAN = "編號,標題\n1,橋樑夜間封閉養護從本週一開始，請市民合理安排出行時間。\n" * 3


class Bytes:
    """A reader of bytes, in pieces of a given size."""

    name = "x.csv"

    def __init__(self, data, piece=1 << 20):
        self._stream, self._piece = io.BytesIO(data), piece

    def read(self, size=1 << 20):
        return self._stream.read(min(size, self._piece))


def decoded(data, encoding, piece=1 << 20):
    reader = Utf8Reader(Bytes(data, piece), encoding)
    return b"".join(reader).decode(), reader.bad


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (CHINESE.encode(), "utf-8"),
        (codecs.BOM_UTF8 + b"id\n", "utf-8"),
        (CHINESE.encode("gbk"), "gb18030"),
        (CHINESE.encode("gb18030") + b"\xff\xfe", "gb18030"),
        (TAIWAN.encode("big5"), "big5hkscs"),
        (CHINESE.encode("utf-16"), "utf-16-le"),
        (codecs.BOM_UTF16_BE + CHINESE.encode("utf-16-be"), "utf-16-be"),
        (CHINESE.encode("utf-16-le"), "utf-16-le"),
        (CHINESE.encode("utf-16-be"), "utf-16-be"),
        (b"id,title\n1,plain\n", "utf-8"),
        ("id,title\n1,plain\n".encode("utf-16-le"), "utf-16-le"),
        (CHINESE.encode() * 20 + b"\xff\xfe", "utf-8"),
        (b"id,a\0b\n", "utf-8"),
        (b"x" * (17 << 20) + CHINESE.encode("gbk"), "gb18030"),
        (b"", "utf-8"),
    ],
    ids=range(15),
)
def test_detects(data, name):
    assert detect(Bytes(data)).name == name


def test_detector_where_rules_end():
    text = "Il était une fois un garçon; l'été dernier, près de la forêt, il a vu naître un chêne.\n" * 20
    assert decoded(text.encode("cp1252"), detect(Bytes(text.encode("cp1252"))).name)[0] == text


def test_why_is_said():
    assert detect(Bytes(CHINESE.encode())).why == ""
    assert "it is not UTF-8" in detect(Bytes(CHINESE.encode("gbk"))).why


@given(st.text(max_size=60), st.integers(1, 7), st.sampled_from(["utf-8", "gb18030", "utf-16-le", "utf-32-be"]))
def test_pieces_do_not_matter(text, piece, encoding):
    text = text.removeprefix("\ufeff")
    assert decoded(text.encode(encoding), encoding, piece) == (text.removeprefix("\ufeff"), 0)


@given(st.binary(max_size=60), st.integers(1, 7))
def test_broken_utf8_in_any_pieces(data, piece):
    text, bad = decoded(data, "utf-8", piece)
    twin = data.decode("utf-8", "replace").removeprefix("\ufeff")
    assert text == twin
    assert (bad == 0) == (data.decode("utf-8", "replace").encode() == data)


def test_bad_bytes_in_gb18030_cost_no_more_than_themselves():
    good = "每周六上午在二楼报告厅举行。".encode("gb18030")
    text, bad = decoded(good[:10] + b"\xff\xfe" + good[10:], "gb18030")
    assert (text, bad) == ("每周六上午\ufffd在二楼报告厅举行。", 2)
    text, bad = decoded(good[:11] + b'",x\n', "gb18030")
    assert (text, bad) == ('每周六上午\ufffd",x\n', 1)


def test_names():
    assert checked_name("GBK") == "gb18030"
    assert checked_name("utf8") == "utf-8"
    with pytest.raises(UserError) as error:
        checked_name("klingon")
    assert str(error.value) == (
        "unknown encoding 'klingon' for --encoding\n"
        "  wanted: utf-8, gb18030, big5, utf-16 or another name that Python knows"
    )
    with pytest.raises(UserError, match="no text encoding"):
        checked_name("base64")


def test_damaged_archives(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\x03abc")
    with (
        pytest.raises(UserError, match=r"x\.csv\.gz is damaged or incomplete"),
        ByteReader(path, "x.csv.gz") as reader,
    ):
        reader.read()


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
@pytest.mark.parametrize("left", [0.01, 0.5, 0.99])
def test_an_archive_that_was_cut_off_is_never_taken_for_whole(tmp_path, pack, left):
    data = pack(b"".join(b"%d,%d\n" % (i, i * i) for i in range(20_000)))
    kind = "gz" if pack is gzip.compress else "zst"
    path = tmp_path / f"x.csv.{kind}"
    for cut in (int(len(data) * left), len(data) - 1):
        for whole in (b"", data):  # one after another, as `cat` joins them
            path.write_bytes(whole + data[:cut])
            with pytest.raises(UserError) as told, ByteReader(path, path.name) as reader:
                list(iter(reader.read, b""))
            assert str(told.value).startswith(f"x.csv.{kind} is damaged or incomplete: ")
            assert str(told.value).endswith(
                f"\n  wanted: a whole .{kind} file\n  try:    copying or downloading it again"
            )


def test_a_window_too_large_says_what_to_type(tmp_path):
    parameters = zstandard.ZstdCompressionParameters(window_log=28, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path = tmp_path / "x.csv.zst"
    path.write_bytes(packer.compress(b"id\n1\n" * 9) + packer.flush())
    with pytest.raises(UserError) as told, ByteReader(path, path.name) as reader:
        reader.read()
    assert str(told.value) == (
        "x.csv.zst was packed with a window of over 128 MB\n  try:    zstd -d --long=31 x.csv.zst"
    )
