"""Words equal to jieba's, fingerprints equal to the plain recipes, and the compiled dictionary's cache."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import naive_words as naive
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsdedup_cli import segment
from newsdedup_cli.errors import UserError

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"
LONG = 500 if NO_JIT else 200_000

MADE = [
    "",
    " ",
    "，",
    "好",
    "a",
    "我们今天在北京参观了新建成的科技馆，孩子们都很高兴。",
    "他来到了网易杭研大厦，见到了李小福和王大锤。",
    "研究生命起源的结合成分子时，工信处女干事每月经过下属科室。",
    "乒乓球拍卖完了吗？下雨天留客天留我不留。",
    "增长12.5%，约3.14亿元；同比下降0.8个百分点，1,234.56元/吨，v2.0.1，5%％",
    "请看 https://www.example.com/a-b_c?id=1&x=2#top 或写信给 zhang.san@example.cn",
    "C++和C#、AT&T与B超，T恤、卡拉OK、IP地址、5G手机、3D打印、BRT、GDP、c++11",
    "The quick brown fox can't jump over 2 lazy dogs; it's state-of-the-art, e.g. U.S.A.",
    "一家👨‍👩‍👧‍👦去看🇨🇳升旗❤️‍🔥，笑😂😂",
    "𠮷野家在㐀㐁𠀀𪚥附近，䶵字也在",
    "第一行\r\n第二行\r第三行\n\r\n\r\r\n\t末行　全角空格\u00a0不间断\u200b零宽\ufeff",
    "東京タワーへ行きましょう。カタカナとひらがな、韓国語 한국어 텍스트",
    "ＡＢＣ１２３％．全角，ｈａｌｆ 半角",
    "\u9fd5\u9fd6\u4e00\u3400\u4dff龥龦",
    "＃＠——……“引号”‘单’【标题】《书名》（括号）、；：？！",
    "+#&._%-",
    "--..%%&&##++__中--国",
    "a.b%c 3.5%% 3.%5 .5 5. 12.5.6% 1.2.3",
    "的的的的的了了了了在在在在是是是是",
    "王李张刘陈杨赵黄周吴",
    "é ü ñ Ж λ א ا ก ༀ \x00\x7f\x80\u07ff\u0800\uffff\U00010000\U0010ffff",
    "龘靐齉爩麤龗灪吁龖厵滟",
]  # fmt: skip
# What blocks, dictionary, HMM and regular expressions treat differently, and characters at their borders.
NASTY = (
    "中国人民的了在是一二王小明研究生命新闻北京大学龘\u4e00\u9fd5\u9fd6㐀𠮷"
    "abzAZ059+#&._%- \r\n\t，。！\u3000あア한é👍\u200d\ufeff"
)
USERDICT = (
    "云计算 5\n李小福 2 nr\n创新办 3 i\neasy_install 3 eng\n好用 300\n"
    "韩玉赏鉴 3 nz\n凱特琳 nz\n台中\n中国 0\n新  闻\n\n"
)


@pytest.fixture(scope="module")
def lexicon() -> segment.Lexicon:
    return segment.load_lexicon()


@pytest.mark.parametrize("hmm", [True, False])
@pytest.mark.parametrize("text", MADE)
def test_words_are_those_of_jieba(text: str, hmm: bool, lexicon: segment.Lexicon) -> None:
    assert segment.words(text, lexicon, hmm) == naive.words(text, hmm)


@pytest.mark.parametrize("hmm", [True, False])
@given(text=st.text(st.sampled_from(NASTY), max_size=60) | st.text(max_size=20))
def test_words_of_random_strings(text: str, hmm: bool, lexicon: segment.Lexicon) -> None:
    assert segment.words(text, lexicon, hmm) == naive.words(text, hmm)


@given(words=st.lists(st.sampled_from(sorted(set("".join(MADE)) | set(MADE[5:9]))), max_size=40))
def test_words_of_shuffled_pieces(words: list[str], lexicon: segment.Lexicon) -> None:
    text = "".join(words)
    assert segment.words(text, lexicon) == naive.words(text)


@pytest.mark.parametrize("unit", ["中国", "龘", "a", "7", "%", "王", MADE[5][:-1], "\r\n", "👍"])
def test_long_runs(unit: str, lexicon: segment.Lexicon) -> None:
    """jieba's own HMM copies the path at every character: it sees the shorter run only."""
    text = (unit * LONG)[:LONG]
    assert segment.words(text, lexicon, hmm=False) == naive.words(text, hmm=False)
    assert segment.words(text[:2000], lexicon) == naive.words(text[:2000])
    assert "".join(segment.words(text, lexicon)) == text


def test_user_dictionary_as_jieba_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text(f"\ufeff{USERDICT}", encoding="utf-8")
    lexicon = segment.load_lexicon(path)
    plain = segment.load_lexicon()
    text = "李小福是创新办主任也是云计算方面的专家；easy_install is 好用的，韩玉赏鉴，台中在中国，凱特琳"
    for hmm in (True, False):
        assert segment.words(text, lexicon, hmm) == naive.words(text, hmm, f"\ufeff{USERDICT}")
        assert segment.words(text, plain, hmm) == naive.words(text, hmm)
    assert "云计算" in segment.words(text, lexicon)
    assert "云计算" not in segment.words(text, plain)


def test_words_split_by_force_stay_in_their_dictionary(tmp_path: Path) -> None:
    """A word of frequency 0 that only the HMM would find."""
    path = tmp_path / "words.txt"
    path.write_text("杭研 0\n", encoding="utf-8")
    text = "他来到了网易杭研大厦"
    assert segment.words(text, segment.load_lexicon(path)) == naive.words(text, True, "杭研 0\n")
    assert segment.words(text, segment.load_lexicon(path)) != segment.words(text, segment.load_lexicon())


def test_missing_and_broken_user_dictionaries(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read the user dictionary"):
        segment.load_lexicon(tmp_path / "none.txt")
    path = tmp_path / "gb.txt"
    path.write_bytes("云计算 5\n".encode("gb18030"))
    with pytest.raises(UserError, match="is not UTF-8"):
        segment.load_lexicon(path)


@pytest.mark.parametrize(("recipe", "twin"), [("classic", naive.classic), ("default", naive.default)])
def test_simhash_is_that_of_the_plain_recipe(recipe, twin, lexicon: segment.Lexicon) -> None:
    texts = [*MADE, "".join(MADE), "".join(reversed(MADE)), *(MADE[5] * n for n in (2, 3, 4, 7)), "x" * 200]
    found, sizes = segment.simhash(pa.array(texts, pa.large_string()), lexicon, recipe)
    assert (found.dtype, sizes.dtype) == (np.uint64, np.int32)
    assert list(zip(found.tolist(), sizes.tolist(), strict=True)) == [twin(text) for text in texts]


@pytest.mark.parametrize(("recipe", "twin"), [("classic", naive.classic), ("default", naive.default)])
@given(texts=st.lists(st.text(st.sampled_from(NASTY), max_size=30), max_size=5))
def test_simhash_of_random_strings(recipe, twin, texts: list[str], lexicon: segment.Lexicon) -> None:
    found, sizes = segment.simhash(pa.array(texts, pa.large_string()), lexicon, recipe)
    assert list(zip(found.tolist(), sizes.tolist(), strict=True)) == [twin(text) for text in texts]


@pytest.mark.parametrize("size", [1, 54, 55, 56, 63, 64, 65, 119, 120, 200])
def test_md5_of_unknown_words_of_every_length(size: int, lexicon: segment.Lexicon) -> None:
    text = ("Xq7" * 70)[:size]
    found, _ = segment.simhash(pa.array([text], pa.large_string()), lexicon, "classic")
    assert int(found[0]) == naive.word_hash(text)


def test_nulls_slices_and_empty_arrays(lexicon: segment.Lexicon) -> None:
    whole = pa.array([MADE[5], None, MADE[6], "", MADE[7]], pa.large_string())
    for part in (whole, whole[1:4], whole[2:], whole[5:], pa.nulls(3, pa.large_string())):
        found, sizes = segment.simhash(part, lexicon)
        expected = [naive.default(text or "") for text in part.to_pylist()]
        assert list(zip(found.tolist(), sizes.tolist(), strict=True)) == expected
    assert naive.default("") == naive.classic("") == (0, 0)


def test_batches_and_threads_change_nothing(lexicon: segment.Lexicon, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = pa.array(MADE, pa.large_string())
    expected = segment.simhash(texts, lexicon)
    monkeypatch.setattr(segment, "CHUNK", 100)

    def run(_: int):
        with np.errstate(over="ignore"):  # the fixture's does not reach other threads
            return segment.simhash(texts, lexicon)

    with ThreadPoolExecutor(4) as pool:
        for found, sizes in pool.map(run, range(2 if NO_JIT else 16)):
            np.testing.assert_array_equal(found, expected[0])
            np.testing.assert_array_equal(sizes, expected[1])


@pytest.mark.parametrize("recipe", ["classic", "default"])
def test_features_make_the_fingerprint(recipe, lexicon: segment.Lexicon) -> None:
    text = MADE[5] * 5 + MADE[9] + MADE[11]
    features = segment.features(text, lexicon, recipe)
    found, _ = segment.simhash(pa.array([text], pa.large_string()), lexicon, recipe)
    assert naive.vote({word: weight for word, weight, _ in features}) == int(found[0])
    assert all(number == naive.word_hash(word) for word, _, number in features)


def test_compiled_dictionary_comes_from_the_cache(lexicon, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(segment, "_dictionary", lambda *_: ({}, 0, set()))
    monkeypatch.setattr(segment, "_compile", lambda *_: lexicon)
    segment.load_lexicon()
    (stored,) = tmp_path.iterdir()
    monkeypatch.setattr(segment, "_compile", lambda *_: pytest.fail("compiled again"))
    again = segment.load_lexicon()
    for name in ("han", "trie", "logs", "hmm", "hashes"):
        np.testing.assert_array_equal(getattr(again, name), getattr(lexicon, name))
    stored.write_bytes(stored.read_bytes()[:1000])
    monkeypatch.setattr(segment, "_compile", lambda *_: lexicon)
    assert segment.load_lexicon() is lexicon
    assert len(stored.read_bytes()) > 1000


def test_another_dictionary_is_another_file(lexicon, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(segment, "_dictionary", lambda *_: ({}, 0, set()))
    monkeypatch.setattr(segment, "_compile", lambda *_: lexicon)
    path = tmp_path / "words.txt"
    for text in ("云计算 5\n", "云计算 6\n"):
        path.write_text(text, encoding="utf-8")
        segment.load_lexicon(path)
    segment.load_lexicon()
    assert len(list(tmp_path.glob("lexicon-*.npy"))) == 3


def test_without_a_folder_to_write_it_stays_in_memory(lexicon, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise PermissionError("read-only")

    monkeypatch.setattr(segment, "_dictionary", lambda *_: ({}, 0, set()))
    monkeypatch.setattr(segment, "_compile", lambda *_: lexicon)
    monkeypatch.setattr(segment, "cache_folder", nowhere)
    assert segment.load_lexicon() is lexicon
    monkeypatch.setattr(segment, "cache_folder", lambda: tmp_path / "none")
    assert segment.load_lexicon() is lexicon


@pytest.mark.skipif(NO_JIT, reason="compiles the dictionary twice")
def test_two_processes_at_once_on_an_empty_cache(tmp_path: Path) -> None:
    code = (
        "import sys; from newsdedup_cli import segment\n"
        "lexicon = segment.load_lexicon(); print(segment.words('我来到北京', lexicon))"
    )
    numba = os.environ["NUMBA_CACHE_DIR"]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": numba}
    runs = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [run.communicate()[0].strip() for run in runs] == ["['我', '来到', '北京']"] * 2
    assert [path.suffix for path in (tmp_path / "newsdedup").glob("lexicon*")] == [".npy"]
    assert not list((tmp_path / "newsdedup").glob("*.part"))


@pytest.mark.usefixtures("lexicon")
def test_jieba_is_not_imported_when_the_dictionary_is_compiled() -> None:
    code = "import sys; from newsdedup_cli import segment; segment.load_lexicon(); print('jieba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
