"""The words that the line steps go by: credits, sections, calls to follow, navigation, notices.

They are the craft's own, no site's name; each is a piece of a regular expression. A step's cues must name
what any match of its pattern holds: `row_flags` looks for them first, and passes over the rows without.
"""

from __future__ import annotations

SURNAME = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高梁郑罗宋谢唐韩曹许邓萧冯曾程蔡彭潘袁于董余苏叶吕魏蒋田杜丁沈姜范江傅钟卢汪戴崔任陆廖姚方金邱夏谭韦贾"
    "邹石熊孟秦阎薛侯雷白龙段郝孔邵史毛常万顾赖武康贺严尹钱施牛洪龚汤陶黎温莫易樊乔文安殷颜庄章鲁倪庞邢俞翟蓝聂齐向申葛柴伍覃骆关焦柳欧祝纪尚毕耿芦左季管符辛苗"
    "詹曲鲍靳祁裴席路卫柯阮桂滕房瞿成岳尤练卜甘闫肖肇戚解卞冉项涂宁舒阳单"
)

CREDIT = (
    "责任编辑|责任校对|责编|网络编辑|新媒体编辑|实习编辑|值班编辑|本文编辑|本期编辑|编辑|主编|总编|审核|"
    "审校|校对|校审|终审|"
    "初审|复审|排版|美编|监制|统筹|策划|制图|制作|编审|值班主任|本文来源|文章来源|稿件来源|新闻来源|"
    "信息来源|资料来源|"
    "图片来源|视频来源|内容来源|来源|稿源|图源|出处|原文作者|本文作者|文章作者|作者|撰文|撰稿|采写|文字|"
    "摄影|摄像|供图|供稿|出品|"
    "实习生|通讯员|翻译|编译|整理|转自|原文链接|原文地址|原文网址|本文链接|本文地址|文章链接|投稿邮箱|"
    "联系邮箱|关键词|标签"
)

META = (
    "发布时间|发表时间|发布日期|更新时间|时间|日期|字号|字体|浏览次数|浏览量|浏览|阅读次数|阅读量|阅读|"
    "点击次数|点击量|点击数|点击|"
    "评论数|评论|访问量|人气"
)

TAG = (
    "快讯|突发|重磅|最新|最新消息|独家|独家报道|视频|图片|图|组图|图文|图集|高清图|高清组图|图解|直播|"
    "滚动|滚动新闻|要闻|头条|关注|"
    "热点|聚焦|焦点|推荐|转载|转发|转|原创|新闻|简讯|速递|快报|速报|号外|紧急|特别关注|今日关注|实时|"
    "即时|更新|滚动播报|头条新闻|"
    "天气|财经|体育|国际|国内|社会|娱乐|科技|时政|评论|观点|深度|调查|解读|分析|专访|人物|现场|动态|资讯|"
    "热点新闻|今日要闻"
)

CALL = (
    "更多|想|欢迎|请|敬请|长按|扫码|扫一扫|扫描|扫|点击|猛戳|戳|关注|微信|搜索|下载|识别|添加|加入|打开|"
    "回复|转发|分享|喜欢|"
    "客服|商务|投稿|爆料|合作|订阅|用微信|手机|官方微信|立即|马上|如果|感兴趣|也可|还可|大家|小编|follow|"
    "sign up|subscribe|download|share|join"
)

CHANNEL = (
    "公众号|公号|二维码|客户端|(?<![a-z])app(?![a-z])|微信号|微信|微博|订阅号|视频号|头条号|扫一扫|"
    "朋友圈|(?<![a-z])qq群?[：\\d]|小程序|用手机看|小助理|(?<![a-z])(?:newsletter|"
    "facebook|twitter|instagram|whatsapp|channel)(?![a-z])"
)

NAV_WORD = (
    "返回首页|返回列表|返回顶部|回到顶部|返回目录|返回|首页|末页|尾页|上一页|下一页|上一篇|下一篇|"
    "阅读原文|查看原文|阅读全文|查看全文|展开全文|"
    "显示全文|点击查看|点击查看全文|点击查看更多|点击查看详情|点击阅读原文|点击进入专题|进入专题|"
    "点击进入|查看更多|查看详情|更多|更多>|加载更多|详细|详情|"
    "网友评论|我要评论|发表评论|查看评论|热门评论|全部评论|暂无评论|评论|文章纠错|我要纠错|纠错|打印|"
    "打印本页|打印本文|关闭|关闭窗口|关闭本页|"
    "收藏|加入收藏|举报|投诉|分享|分享到|点赞|赞|踩|顶|登录|注册|退出|个人中心|搜索|简|繁|en|邮箱|字号|"
    "大|中|小|无障碍|手机版|电脑版|网站地图|"
    "设为首页|联系我们|关于我们|广告|广告服务|advertisement|read more|share|print|email|comments?|home|"
    "login|next|previous|back to top"
)

DISCLAIMER_HEAD = (
    r"[（\[*※·]*(?:\d[.、，])?(?:(?:免责|版权|转载|特别|郑重|重要|法律|原创|网站|风险)?(?:声明|说明|提示|"
    r"条款)|本文|此文|该文|以上|上述|文章|文中|本[网站报刊台]|"
    r"本公众号|本平台|凡|未经|非经|[如若](?:有|需|要|发现|涉及|转载|您|本)|转载|版权|投资有风险|据此|注|"
    r"部分|内容|稿件|图片|来源|如果|图文|素材|此稿件|登载|任何|欢迎|all rights|copyright|©|"
    r"this material|the views|the opinions|[\u3400-\u9fff]{2,6}(?:客户端|号)[系未])"
)

NOTICE_FIRSTS = "免版转特郑重法原网风声说提条本此该文以上凡未非如若投据注部内稿图来素登任欢"
"""The ideographs that DISCLAIMER_HEAD may begin with; its last form aside, which holds 系 or 未."""

DISCLAIMER_BODY = (
    r"(?:不|仅|并不|只)代表.{0,20}(?:观点|立场|看法|意见|无关)|不构成.{0,16}(?:建议|依据|意见)|(?:未经|"
    r"非经).{0,16}(?:授权|许可|同意|允许).{0,30}"
    r"(?:转载|复制|摘编|使用|镜像|传播|不得|禁止|严禁)|(?:转载|引用|摘编|使用|授权).{0,16}(?:请|须|需|"
    r"务必|应|必须).{0,16}(?:注明|标明|授权|出处)|转载.{0,12}(?:请|须|需|务必).{0,10}联系"
    r"|(?:侵权|版权|异议|侵犯|不妥).{0,40}(?:联系|告知|通知|来电|来函|删除|处理)|版权(?:均|全)?(?:归|属|"
    r"为).{0,30}(?:所有|原作者)|版权所有"
    r"|信息存储空间|信息发布平台|仅供.{0,10}(?:参考|阅读|交流|学习)|与本[网站报台].{0,6}无关|(?:风险|"
    r"后果|责任).{0,4}(?:自负|自担)|旨在传[播递].{0,30}信息"
    r"|违者必究|谢绝转载|禁止转载|拒绝任何形式.{0,8}转载|\b(?:all rights reserved\b|"
    r"may not be (?:published|reproduced|broadcast)\b)"
    r"|\bdo(?:es)? not (?:necessarily )?(?:reflect|represent)\b"
)

START_CUES: dict[str, str] = {
    "headline_tags": f"{TAG}|突发新闻|重磅消息",
    "original_title": "原标|原题|原文",
    "related_links": "推荐|相关|延伸|更多|往期|精彩|热门|阅读|编辑|热点|为您|猜你|最新|精选|此前|早前|"
    "related|see|more|read|also|recommended",
    "navigation": f"{NAV_WORD}|comment|comments|上一条|下一条|点击|共|第|返回",
    "captions": "资料|视频|网络|网页|微博|监控|现场|配图|示意|效果|图片|图集|组图|高清|图|image|photo|picture",
    "credits": f"{CREDIT}|{META}|文|图|文图|图文|by|end|reporting|writing|editing|http|https|www|完|终|"
    "全文完|本文完|终稿",
}
"""What the first letters of a line must be, marks and brackets aside, for the step to take it."""

ANY_CUES: dict[str, str] = {
    "disclaimers": (
        "不代|仅代|只代|不构|未经|非经|注明|标明|出处|转载|授权|侵权|版权|异议|侵犯|不妥|息存|息发|仅供|"
        "与本|自负|自担|在传|违者|谢绝|"
        "绝任|声明|免责|reserved|published|reproduced|broadcast|reflect|represent"
    ),
    "follow_us": (
        "公众号|公号|二维码|客户端|app|微信|微博|订阅号|视频号|头条号|扫一扫|朋友圈|qq|小程序|用手机看|"
        "小助理|newsletter|facebook|twitter|"
        "instagram|whatsapp|channel|分享|长按"
    ),
    "captions": "供图",
    "credits": "记者|/文|/图|/摄",
}
"""What must stand somewhere in a line for the step to take it, or the end of it."""

DATELINE_CUES = (
    "日电|日讯|日消|日专|日快|午电|午讯|午消|午专|午快|晨电|晨讯|晨消|晨专|晨快|晚电|晚讯|晚消|晚专|晚快|"
    "间电|间讯|间消|间专|间快|"
    "讯（|息（|道（|电（|报讯|报消|报快|报综|报专|报特|台讯|台消|台快|台综|台专|台特|网讯|网消|网快|网综|"
    "网专|网特|刊讯|刊消|刊快|刊综|"
    "刊专|刊特|站讯|站消|站快|站综|站专|站特|社讯|社消|经讯|经消|线讯|线消|端讯|端消|（记|（通|（实|（见|"
    "（特|（本|（全|（上|）-|）—"
)
"""One of these two-letter runs stands in the first 60 letters of a line that begins with a dateline."""
