"""Which column is the id, the title, the text: guessed from the header, by names only."""

from __future__ import annotations

from collections.abc import Sequence

# Per role, in order of preference; compared without case, spaces, underscores and hyphens.
ROLES: dict[str, tuple[str, ...]] = {
    "id": (
        "id", "编号", "新闻id", "文章id", "newsid", "news_id", "docid", "article_id", "aid", "nid", "uid",
        "uuid", "guid", "_id", "key", "序号", "no", "编码", "identifier", "item_id", "post_id",
    ),
    "title": (
        "title", "标题", "新闻标题", "文章标题", "headline", "news_title", "article_title", "contenttitle",
        "题目", "題目", "標題", "subject", "主题", "heading",
    ),
    "text": (
        "content", "text", "body", "正文", "内容", "內容", "新闻内容", "新闻正文", "文章内容", "文章正文",
        "article", "contents", "news_content", "article_content", "fulltext", "full_text", "maintext",
        "article_text", "content_text", "news_text", "articlebody", "plain_text", "raw_text", "全文",
        "文本", "news", "文章", "news_body", "texts", "html", "content_html", "body_html",
    ),
    "date": (
        "date", "pub_time", "pub_date", "publish_time", "publish_date", "published_at", "published",
        "发布时间", "发布日期", "发表时间", "發布時間", "日期", "时间", "時間", "publishedtime", "pubtime",
        "pubdate", "datetime", "time", "news_date", "news_time", "release_time", "release_date",
        "createtime", "created_at", "create_time", "timestamp", "day", "新闻时间", "报道时间", "crawl_time",
    ),
    "source": (
        "source", "来源", "來源", "媒体", "媒體", "media", "site", "网站", "網站", "站点", "publisher",
        "source_name", "news_source", "site_name", "新闻来源", "文章来源", "发布媒体", "media_name",
        "outlet", "channel", "domain",
    ),
    "url": (
        "url", "链接", "鏈接", "连接", "网址", "網址", "link", "href", "news_url", "article_url",
        "source_url", "page_url", "原文链接", "新闻链接", "文章链接", "地址", "uri", "permalink",
    ),
}  # fmt: skip


def _plain(name: str) -> str:
    return "".join(c for c in name.casefold() if c not in " _-　\ufeff").strip()


def guess(names: Sequence[str]) -> dict[str, int]:
    """The position of the column for each role that a name stands for; the first of equal names.

    >>> guess(["编号", "Title", "正文", "pub-time"])
    {'id': 0, 'title': 1, 'text': 2, 'date': 3}
    """
    found: dict[str, int] = {}
    plain = [_plain(name) for name in names]
    for role, known in ROLES.items():
        for name in map(_plain, known):
            if name in plain and plain.index(name) not in found.values():
                found[role] = plain.index(name)
                break
    return found
