"""The words of report.html, in English and Chinese. Names of columns, files and options are the same in both."""

from __future__ import annotations

from collections.abc import Mapping

LANGS = ("en", "zh")

# key: (English, Chinese); {} takes a figure.
_WORDS: dict[str, tuple[str, str]] = {
    "title": ("newsdedup report", "newsdedup 去重报告"),
    "lead": (
        "{read} rows were read. {removed} of them ({share}) are copies and were removed; {kept} stay. "
        "{candidates} doubtful pairs are left for you.",
        "共读入 {read} 行，其中 {removed} 行（{share}）是重复稿，已移除；保留 {kept} 行。"
        "另有 {candidates} 对存疑，留待人工判断。",
    ),
    "read": ("rows read", "读入行数"),
    "kept_rows": ("kept", "保留"),
    "removed_rows": ("removed", "移除"),
    "clusters_n": ("clusters of two or more", "两行及以上的簇"),
    "largest_n": ("rows in the largest cluster", "最大簇的行数"),
    "candidates_n": ("candidate pairs", "待定对"),
    "rejected_n": ("rejected", "未能读入"),
    "charts": ("Charts", "图表"),
    "figures": ("figures", "数据"),
    "outcome": ("Rows by outcome and reason", "各行的去向与原因"),
    "distances": ("Distance of copies and candidates", "重复稿与待定对的汉明距离"),
    "valley_note": (
        "Among all pairs of {} rows there is a valley at {}–{} bits.",
        "在 {} 行的全部配对中，谷位于 {}–{} 位。",
    ),
    "no_valley_note": (
        "Among all pairs of {} rows there is no valley.",
        "在 {} 行的全部配对中没有谷。",
    ),
    "distances_note": (
        "Bits in which the fingerprints differ; the line: --max-distance {}. {} rows with equal texts are left out.",
        "两个指纹不同的位数；竖线：--max-distance {}。文本完全相同的 {} 行未计入。",
    ),
    "scores": ("Score of copies and candidates", "重复稿与待定对的相似分"),
    "scores_note": (
        "1 = same text; the line: --min-score {}. {} rows with equal texts are left out.",
        "1 = 文本相同；竖线：--min-score {}。文本完全相同的 {} 行未计入。",
    ),
    "sizes": ("Clusters by size", "簇的大小"),
    "sizes_note": ("How many articles occur how often.", "一篇稿件出现了几次，这样的稿件有多少。"),
    "sources": ("Who copies whom", "谁转载谁"),
    "sources_note": (
        "Removed rows: down, the source of the row that was kept; across, their own. {} more from other sources.",
        "移除的行：纵轴为所保留行的来源，横轴为其自身来源。其他来源另有 {} 行。",
    ),
    "files_note": (
        "No source column: by input file. Down, the file of the row that was kept; across, the removed row's. {} more.",
        "没有来源列，按输入文件统计：纵轴为保留行的文件，横轴为移除行的文件。另有 {} 行。",
    ),
    "spans": ("From first to last copy", "首发到最后一次转载"),
    "spans_note": ("Clusters with two known dates or more.", "只计有两个以上已知日期的簇。"),
    "days_day": ("Copies per day", "每日重复稿"),
    "days_week": ("Copies per week", "每周重复稿"),
    "days_month": ("Copies per month", "每月重复稿"),
    "days_year": ("Copies per year", "每年重复稿"),
    "days_note": ("Removed rows by their date.", "移除的行按其日期统计。"),
    "by_reason": ("Candidates by reason", "待定对的原因"),
    "none_source": ("(none)", "（无）"),
    "no_source": ("No source column is known (--source).", "没有来源列（--source）。"),
    "one_source": ("There is nothing to compare: one source, or no copies.", "无从比较：只有一个来源，或没有重复稿。"),
    "no_dates": ("No dates are known (--date).", "没有可用的日期（--date）。"),
    "nothing": ("Nothing.", "无。"),
    "rows": ("rows", "行"),
    "clusters_unit": ("clusters", "簇"),
    "pairs": ("pairs", "对"),
    "removed_series": ("removed rows", "移除的行"),
    "candidates_series": ("candidates", "待定对"),
    "kept": ("kept", "保留"),
    "no_text": ("kept: no text", "保留：无正文"),
    "too_short": ("kept: too short", "保留：过短"),
    "boilerplate_only": ("kept: boilerplate only", "保留：只有套话"),
    "exact": ("removed: exact", "移除：完全相同"),
    "simhash": ("removed: simhash", "移除：simhash"),
    "sentence": ("removed: sentence", "移除：共有长句"),
    "semantic": ("removed: semantic", "移除：语义"),
    "rejected": ("rejected", "未能读入"),
    "numbers_differ": ("numbers_differ", "数字不同"),
    "contained_in": ("contained_in", "一篇含另一篇"),
    "short_text": ("short_text", "文本过短"),
    "same_url": ("same_url", "网址相同"),
    "near": ("near", "接近阈值"),
    "span_0": ("same moment", "同时"),
    "span_1": ("< 1 min", "1 分钟内"),
    "span_2": ("< 1 h", "1 小时内"),
    "span_3": ("< 6 h", "6 小时内"),
    "span_4": ("< 1 day", "1 天内"),
    "span_5": ("< 3 days", "3 天内"),
    "span_6": ("< 7 days", "7 天内"),
    "span_7": ("< 30 days", "30 天内"),
    "span_8": ("longer", "更久"),
    "largest": ("The largest clusters", "最大的簇"),
    "doubtful": ("The most doubtful clusters", "最可疑的簇"),
    "doubtful_note": (
        "Those with the lowest score of a removed row: look here first.",
        "移除行得分最低的簇，请先看这里。",
    ),
    "candidates": ("Candidates", "待定对"),
    "candidates_note": (
        "{} of {} pairs; all of them are in report.xlsx and candidates.parquet. Neither row was removed for the other.",
        "显示 {} 对，共 {} 对；全部见 report.xlsx 与 candidates.parquet。这些对中的两行均未因对方而移除。",
    ),
    "legend": (
        "Marked: {} only in the first, {} only in the second text, as they were compared (cleaned).",
        "标记：{} 仅见于前文，{} 仅见于后文；文本为清洗后用于比较的文本。",
    ),
    "only_first": ("this", "此处"),
    "only_second": ("this", "此处"),
    "cut": ("… {} characters …", "……略 {} 字……"),
    "equal": ("The two texts are equal.", "两段文本相同。"),
    "no_texts": ("The texts are not at hand.", "文本不在手边。"),
    "more_rows": ("and {} more rows", "另有 {} 行"),
    "untitled": ("(no title)", "（无标题）"),
    "row": ("row", "行"),
    "id": ("id", "id"),
    "size": ("{} rows", "{} 行"),
    "score": ("score", "得分"),
    "distance": ("distance", "距离"),
    "shared": ("shared sentences", "共有句"),
    "containment": ("containment", "包含度"),
    "kept_tag": ("kept", "保留"),
    "boilerplate": ("Boilerplate found", "发现的套话"),
    "boilerplate_note": (
        "Sentences that many otherwise different rows share; they count for no score.",
        "许多互不相同的稿件共有的句子，不计入相似分。",
    ),
    "sentence_head": ("sentence", "句子"),
    "in_rows": ("in rows", "出现行数"),
    "rejects": ("Rejected input", "未能读入的输入"),
    "rejects_note": (
        "What could not be read as a row; rejects.jsonl has it all.",
        "无法读成一行的内容；全部见 rejects.jsonl。",
    ),
    "file": ("file", "文件"),
    "line": ("line", "行号"),
    "reason": ("reason", "原因"),
    "raw": ("as it stands there", "原样"),
    "how": ("How it was made", "如何得出"),
    "inputs": ("Inputs", "输入"),
    "bytes": ("bytes", "字节"),
    "settings": ("Settings", "设置"),
    "versions": ("Versions", "版本"),
    "columns": ("Columns", "列"),
    "stages": ("Stages", "阶段"),
    "seconds": ("seconds", "秒"),
    "memory": ("peak memory (MiB)", "峰值内存（MiB）"),
    "notes": ("Notes and warnings", "提示与警告"),
    "signature": ("settings signature", "设置签名"),
    "first_lines": ("the first {} of {}", "前 {} 条，共 {} 条"),
    "chart_missing": (
        "The charts need JavaScript; their figures are below them.",
        "图表需要 JavaScript；数据见各图下方。",
    ),
}


def words(lang: str) -> Mapping[str, str]:
    """The words of a language, English for an unknown one.

    >>> words("zh")["largest"]
    '最大的簇'
    """
    at = 1 if lang.lower().startswith("zh") else 0
    return {key: both[at] for key, both in _WORDS.items()}
