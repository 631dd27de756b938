"""Steps that take off what is not the article: headline tags, datelines, credits, disclaimers and the like.

They read text that the character steps have brought to one form: （）[]"" for all brackets and quotes,
full-width ，：！？, Latin in lower case, blanks only between Latin words, one paragraph a line. Each looks
only at the first `HEAD` or the last `TAIL` lines, and takes a line only when the whole of it has the form
of such a line; in doubt it stays. Words here are the craft's own (editor, source, QR code), no site's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from newsdedup_cli.clean_words import (
    ANY_CUES,
    CALL,
    CHANNEL,
    CREDIT,
    DISCLAIMER_BODY,
    DISCLAIMER_HEAD,
    META,
    NAV_WORD,
    SURNAME,
    TAG,
)

HEAD = 3
DATELINE_WINDOW = 400
TAIL = 10

_HAN = "\u3400-\u9fff"
_NAMES = rf"[{SURNAME}][{_HAN}· ]{{1,11}}"
_DATE = r"\d{2,4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?(?: ?t?\d{1,2}[:：]\d{2}(?:[:：]\d{2})?)?"
_CREDIT_FIELD = rf"(?:{CREDIT})[：/|][^，。！？；：/|]{{0,24}}"
_META_FIELD = (
    rf"(?:{META})[：](?:{_DATE}|\d{{1,9}}次?|[大中小默认]{{0,4}})|{_DATE}|字号"
    rf"|\d{{1,2}}:\d{{2}}(?::\d{{2}})?"
)
_URL = r"(?:https?：//|www\.)[!-~：？！（）；，]+"
_SENTENCE_END = '[。！？"…）\\]]'


def _lines_out(text: str, head: int, tail: int, longest: int, matches: Callable[[str], object]) -> str:
    """The text without those of its first `head` and last `tail` lines that match and are not too long."""
    lines = text.split("\n")
    count = len(lines)
    zone = range(count) if count <= head + tail else (*range(head), *range(count - tail, count))
    out = [at for at in zone if len(lines[at]) <= longest and matches(lines[at])]
    if not out:
        return text
    for at in reversed(out):
        del lines[at]
    return "\n".join(lines)


def _drop(pattern: str, head: int, tail: int, longest: int) -> Callable[[str], str]:
    """A step that drops whole lines of up to `longest` characters."""
    matches = re.compile(pattern).fullmatch

    def step(text: str) -> str:
        return _lines_out(text, head, tail, longest, matches)

    return step


# --- the head -------------------------------------------------------------------------------------

_HEADLINE = re.compile(
    rf"(?:\[(?:{TAG})\]|（(?:{TAG})）|(?:快讯|突发|重磅|最新消息|号外|独家|滚动|突发新闻|重磅消息)[：！|])+"
)
_PICTURES = re.compile(r"[（\[](?:图|组图|图文|多图|附图|高清图|视频|图\|?视频|附视频|图集)[）\]]\Z")


def headline_tags(text: str) -> str:
    """[快讯], 快讯：, 重磅！ at the start; （图） at the end of a text of one line."""
    found = _HEADLINE.match(text)
    if found and found.end() < len(text):
        text = text[found.end() :].lstrip("\n")
    if "\n" not in text and text.endswith(("）", "]")):
        text = _PICTURES.sub("", text) or text
    return text


_TITLE_PAREN = re.compile(r"（原(?:标题|题|题为|标题为)[：《](?:[^（）\n]|（[^（）\n]*）){1,90}）")
_TITLE_LINE = re.compile(r"[（\[]?原(?:标题|题|文标题)：[^。\n]{0,70}")
_TITLE_CUES = ("原标题", "原题", "原文标题：")
_TITLE = re.compile(f"(?:{_TITLE_PAREN.pattern}|{_TITLE_LINE.pattern})")


def original_title(text: str) -> str:
    """（原标题：...）, and 原标题：... on a line of its own, at the head or the tail."""
    found = _TITLE_PAREN.match(text)
    if found:
        text = text[found.end() :].lstrip("\n")
    if not any(cue in text for cue in _TITLE_CUES):
        return text
    return _lines_out(text, HEAD, TAIL, 100, _TITLE.fullmatch)


_BYLINE = r"（[^（）。\n]{0,50}）"
_REPORTER = r"（[^（）。\n]{0,20}(?:记者|通讯员|编辑|实习生|作者|主播|编译)[^（）。\n]{0,50}）"
_DATELINE = re.compile(
    rf"(?:[{_HAN}a-z0-9·./\- ]{{2,26}}?(?:{_BYLINE})?)?(?:[0-9]{{2,4}}年)?[0-9]{{1,2}}月[0-9]{{1,2}}日(?:[上下]午|"
    rf"凌晨|晚间?|早间)?"
    rf"(?:电(?![量力价网商影视话台梯动池器子脑信报缆费表机厂站车源竞玩])|讯(?![息号问])|消息|专电|"
    rf"快讯)(?:{_BYLINE})?(?:题：|[：，])?"
    rf"|[{_HAN}a-z0-9·]{{1,12}}(?:快讯|讯|消息|报道|电){_REPORTER}[：，]?"
    rf"|[{_HAN}a-z0-9]{{2,8}}(?:讯|消息)（[^（）。，\n]{{2,12}}）："
    rf"|本[报台网刊站](?:讯|消息|快讯|综合消息|综合报道|专稿|特稿)(?:{_BYLINE})?[：，]?"
    rf"|[{_HAN}a-z0-9]{{1,8}}[网报社台刊经线端](?:讯|消息)[：，]"
    rf"|[{_HAN}a-z0-9·]{{2,14}}（(?:记者|通讯员|实习|见习|特约|本报|"
    rf"全媒体)[^（）。\n]{{0,50}}）(?:[：，]|(?=\n))"
    r"|[a-z ,.]{2,30}（[a-z]{2,12}）[-—]+"
    r"|（上接[^（）\n]{1,12}版[^（）\n]{0,12}）[，。]?"
)
_NOT_DATELINE = re.compile(r"据|称|表示|宣布|发布|获悉|召开|举行|因|被|将|于|在")


def dateline(text: str) -> str:
    """X社某地3月5日电（记者某）, 本报讯, place (agency) - at the start of one of the first lines.

    Reads no more than the first `DATELINE_WINDOW` characters.
    """
    window, start = text[:DATELINE_WINDOW], 0
    for _ in range(HEAD):
        found = _DATELINE.match(window, start)
        if found and found.end() < len(window) and not _NOT_DATELINE.search(found[0].split("（")[0]):
            return text[:start] + window[found.end() :].lstrip("\n ，：") + text[len(window) :]
        start = window.find("\n", start) + 1
        if not start:
            break
    return text


# --- lines of their own ---------------------------------------------------------------------------

_JOIN = r"[|/、· ]*"
_NAMED = rf"(?:[{_HAN}]{{0,10}}[报网社台刊线端]|[{_HAN}]{{0,6}}新闻|本报|本网|特约|见习|实习|全媒体)记者{_NAMES}"
_CREDIT_LINE = re.compile(
    rf"[（\[]?{_JOIN}(?:(?:{_CREDIT_FIELD}|{_META_FIELD}|{_URL}){_JOIN}){{1,8}}[）\]]?。?"
    rf"|[（\[]?{_NAMED}(?:摄|摄影报道|报道|文|图|文/图|摄影)?[）\]]?"
    rf"|(?:文|图|文图|图文|文/图|图/文)[/|：][^，。！？；]{{1,30}}|[{_HAN}·、 ]{{2,16}}/[文图摄]"
    rf"|（(?:完|终|终稿|全文完|本文完)）|(?:—|·)?(?:end|全文完)(?:—|·)?"
    rf"|by [a-z.'-]+(?: [a-z.'-]+){{1,2}}|（?(?:reporting|writing|editing) by [^。]{{2,80}}）?"
)
_WITH_COMMA = re.compile(r"//|www\.|ing by ")
_DATE_LINE = re.compile(rf"[（\[]?{_DATE}[）\]]?")


def _is_credit(line: str) -> bool:
    """Whether a line has the form; no credit holds a 。 before its end, few a ，: a cheap test first."""
    if "。" in line[:-1] or ("，" in line and not _WITH_COMMA.search(line)):
        return False
    return bool(_CREDIT_LINE.fullmatch(line))


def _is_late_credit(line: str) -> bool:
    return _is_credit(line) and not _DATE_LINE.fullmatch(line)


def credits(text: str) -> str:
    """Source, author, editor and time on lines of their own; a bare date below signs the text and stays."""
    text, cut, last = text.rpartition("\n")
    if not cut or not _DATE_LINE.fullmatch(last):
        text, cut, last = f"{text}{cut}{last}", "", ""
    text = _lines_out(text, HEAD, 0, 60, _is_credit)
    text = _lines_out(text, 0, TAIL, 60, _is_late_credit)
    return f"{text}{cut}{last}"


_captions = _drop(
    r"[（\[]?(?:资料图片?|资料照片|视频截图|网络截图|网页截图|微博截图|监控视频截图|监控截图|现场图片?|"
    r"配图|网络图片|网络配图|示意图|效果图|"
    r"微博图|图片|视频|图集|组图|高清图|.{0,8}供图|图片来[自源].{0,20}|图/记者.{1,20}|(?:image|photo|"
    r"picture) ?(?:credit|caption|source)?：.{0,60})[）\]]?。?",
    HEAD,
    TAIL,
    70,
)


def captions(text: str) -> str:
    """Lines that only say that there is a picture, unless there is nothing else."""
    return _captions(text) or text


_REPORTS = re.compile(r"称|表示|记者|日前|近日|据|突破|人数|市民|居民|用户|警方|\d+万|\d+%|said|says")
_FOLLOW = re.compile(
    rf"[（\[▼↓>·—*|\"]*(?:{CALL}).{{0,40}}(?:{CHANNEL}).{{0,40}}|"
    rf"(?:{CHANNEL})：[（\"]?[a-z][a-z0-9_-]{{3,40}}[）\"]?"
    r"|分享[到至].{0,40}(?:和|朋友圈|微博|微信|空间|好友)?.{0,10}|用微信扫描.{0,12}|扫一扫[，！]?.{0,12}|"
    r"长按.{0,12}(?:二维码|识别|关注).{0,12}"
)


def _is_follow(line: str) -> bool:
    return bool(_FOLLOW.fullmatch(line)) and not _REPORTS.search(line)


def follow_us(text: str) -> str:
    """Lines that only ask to scan a QR code, follow an account, load an app or share."""
    return _lines_out(text, HEAD, TAIL, 80, _is_follow)


_NAV = rf"(?:[\[（]?(?:{NAV_WORD})[）\]]?[|>：，·/、 ]*)"
_PAGES = r"(?:[\[（]?\d{1,3}[）\]]?[ |·…]*)"
navigation = _drop(
    rf"(?!.{{41}})[|>·《》 ]*(?:{_NAV}|{_PAGES}?{_NAV})(?:{_NAV}|{_PAGES})*[>》。]?|(?:上一篇|下一篇|"
    rf"上一条|下一条)：.{{0,60}}"
    r"|返回[^，。]{2,6}，查看更多|点击(?:图片|大图|此处|这里|下图|上图).{0,12}|共\d{1,3}页.{0,20}|"
    r"第\d{1,3}页(?:/?共\d{1,3}页)?",
    HEAD,
    TAIL,
    66,
)

_CODE = re.compile(
    r"(?:var |let |const |function\b|return\b|if ?（|else\b|for ?（|while ?（|window\.|document\.|jquery|"
    r"\$（|[.#][\w-]+ ?\{|@media|@import|//|/\*)"
    r"(?:.*[{}=].*|.*；)|.*[={}（].*[；{}]|[\]})（）；，\"' ]*(?:true|false|null|undefined)[\]})；，]*|"
    r"\"[\w-]+\"：.*",
)
_CODE_CUE = re.compile(r"[{}=；\"]|true|false|null|undefined")
_CJK = re.compile(f"[{_HAN}]")


def script_lines(text: str) -> str:
    """Lines of program text or JSON without one ideograph, wherever they stand."""
    if not _CODE_CUE.search(text):
        return text
    lines = text.split("\n")
    kept = [line for line in lines if not (_CODE_CUE.search(line) and _is_code(line))]
    return text if len(kept) == len(lines) else "\n".join(kept)


def _is_code(line: str) -> bool:
    return len(line) <= 400 and not _CJK.search(line) and bool(_CODE.fullmatch(line))


_LINKS = re.compile(
    r"[\[（>·》|]*(?:推荐阅读|相关阅读|延伸阅读|更多阅读|往期阅读|精彩阅读|热门阅读|阅读推荐|相关新闻|"
    r"相关报道|相关文章|相关链接|相关稿件|相关推荐|"
    r"相关专题|热门推荐|精彩推荐|编辑推荐|热点推荐|为您推荐|猜你喜欢|热门文章|热门新闻|热门评论|最新文章|"
    r"往期回顾|精选文章|更多精彩|此前报道|早前报道|"
    r"related(?: articles?| stories| links| news)?|see also|more on this story|read also|also read|"
    r"recommended)[\]）》>]*(?:[：见请|，|].{0,60}|(?:责编|责任编辑|编辑)：.{0,12})?"
)


def related_links(text: str) -> str:
    """A heading such as 相关阅读 and the titles below it, down to the end, if nothing but titles follows."""
    lines = text.split("\n")
    for at in range(len(lines) - 1, max(0, len(lines) - 2 * TAIL) - 1, -1):
        if not _is_title(lines[at]):
            break
        if at and _LINKS.fullmatch(lines[at]):
            return "\n".join(lines[:at])
    return text


def _is_title(line: str) -> bool:
    return len(line) <= 60 and "。" not in line


_DISCLAIMER = re.compile(DISCLAIMER_HEAD)
_LABEL = re.compile(
    r"[（\[]?(?:(?:免责|版权|转载)(?:声明|说明|条款)|(?:特别|郑重|重要|法律|原创|网站)声明)[\]）]?[：]?"
)
_DISCLAIMER_CUE = re.compile(DISCLAIMER_BODY)
_SENTENCE = re.compile(r"[^。！？；]*[。！？；]*[\"）\]]*")


_NOTICE_WORDS = re.compile(ANY_CUES["disclaimers"])


def _is_disclaimer(sentence: str) -> bool:
    """Whether a sentence begins as notices do and says what they say; cheap tests first."""
    return bool(
        len(sentence) <= 160
        and _DISCLAIMER.match(sentence)
        and _NOTICE_WORDS.search(sentence)
        and _DISCLAIMER_CUE.search(sentence)
    )


def _without_disclaimer(line: str) -> str:
    """The line without its last sentences, as far as they are disclaimers."""
    if not _NOTICE_WORDS.search(line[-170:]) and not _NOTICE_WORDS.search(line, 0, 20):
        return line
    label = _LABEL.match(line)
    if label and (label.end() == len(line) or _DISCLAIMER_CUE.search(line)):
        return ""
    sentences = [part for part in _SENTENCE.findall(line) if part]
    end = len(sentences)
    while end and _is_disclaimer(sentences[end - 1]):
        end -= 1
    return "".join(sentences[:end]) if end < len(sentences) else line


def disclaimers(text: str) -> str:
    """Copyright, reprint, opinion and investment notices: whole lines, or the last sentences of a line."""
    lines = text.split("\n")
    late = max(0, len(lines) - TAIL)
    out = [_without_disclaimer(line) if at >= late or at < HEAD else line for at, line in enumerate(lines)]
    return "\n".join(line for line in out if line)


# --- glued to the last sentence -------------------------------------------------------------------

_INLINE = re.compile(
    rf"(?<={_SENTENCE_END})(?:"
    rf"（(?:完|终|全文完|未完待续)）[。*]*"
    rf"|（[^（）。]{{0,30}}(?:记者|通讯员|编辑|责编|作者|来源|供稿|供图|报道|摄|校对|实习生|综合|原标题|"
    rf"原题|/文|文/|编译)[^（）。]{{0,60}}）[。*]*"
    rf"|（[{_HAN}、/·| ]{{2,12}}）[。*]*"
    rf"|[（\[](?:下转[^（）]{{1,14}}|转自[^（）]{{1,20}}|据[^（），。]{{2,20}})[）\]]"
    rf"|[（\[]?(?:{CREDIT})[：/|][^，。！？；：]{{0,40}}[）\]]?"
    rf"|(?:文/)?(?:本报|[{_HAN}]{{2,8}}[报网社台])?记者(?![{_HAN}]{{0,4}}(?:从|在|了解|获悉|看到|发现|"
    rf"采访|来到|联系|注意)){_NAMES}"
    rf"|\[?(?:点击)?(?:查看|阅读|展开)(?:全文|原文|更多|详情)[^。]{{0,12}}\]?|\[(?:详细|详情|更多)\]"
    rf"|返回[{_HAN}]{{2,4}}，查看更多"
    rf"|(?:上一页)?[\d \[\]|]*下一页.{{0,10}}"
    rf")\Z"
)
_TURN = re.compile(r"(?:（下转[^（）\n]{1,14}版?[^（）\n]{0,8}）|…?\[?点击(?:查看|阅读)(?:全文|原文|更多)\]?)\Z")
_INLINE_WINDOW = 130


def inline_tails(text: str) -> str:
    """（记者某）, （完）, 责任编辑：某, 本文来源：某 after the last sentence of the text."""
    for _ in range(6):
        start = max(0, len(text) - _INLINE_WINDOW)
        found = _INLINE.search(text, start) or _TURN.search(text, start)
        if not found or "\n" in found[0]:
            break
        text = text[: found.start()]
    return text


def end_marks(text: str) -> str:
    """The marks that end the text; ？ stays, it says something."""
    return text.rstrip("。！，；：、…—")


STEPS: tuple[tuple[str, str, str, str, Callable[[str], str]], ...] = (
    (
        "headline_tags",
        "[快讯], 重磅！ and the like at the head",
        "[快讯]重磅！大桥合龙",
        "大桥合龙",
        headline_tags,
    ),
    (
        "original_title",
        "the note of the headline it had elsewhere",
        "（原标题：桥通了）大桥昨日通车。",
        "大桥昨日通车。",
        original_title,
    ),
    ("script_lines", "lines of program text or JSON", "大桥通车。\nvar a=1；", "大桥通车。", script_lines),
    (
        "related_links",
        "links to other articles at the end",
        "大桥通车。\n相关阅读：\n渡口停运",
        "大桥通车。",
        related_links,
    ),
    (
        "disclaimers",
        "copyright and opinion notices at the end",
        "大桥通车。\n免责声明：本文不代表本站观点。",
        "大桥通车。",
        disclaimers,
    ),
    (
        "navigation",
        "links to pages, comments, printing",
        "大桥通车。\n上一页1 2下一页",
        "大桥通车。",
        navigation,
    ),
    (
        "follow_us",
        "QR codes, accounts, apps, share bars",
        "大桥通车。\n扫码关注公众号",
        "大桥通车。",
        follow_us,
    ),
    ("captions", "lines that only say that there is a picture", "大桥通车。\n资料图", "大桥通车。", captions),
    (
        "credits",
        "source, author, editor and time on a line of their own",
        "来源：某报\n大桥通车。\n责任编辑：甲乙",
        "大桥通车。",
        credits,
    ),
    (
        "dateline",
        "agency, place, date and byline before the first sentence",
        "某社江州3月5日电（记者甲）大桥通车。",
        "大桥通车。",
        dateline,
    ),
    (
        "inline_tails",
        "bylines and credits after the last sentence",
        "大桥通车。（记者甲乙）责任编辑：丙丁",
        "大桥通车。",
        inline_tails,
    ),
)
"""The steps in their order: name, what it does, example before, after, function."""

HEAD_ONLY = frozenset(("headline_tags", "original_title", "dateline"))
"""Steps after which no other round is needed: what they take opens the way to no step before them."""
