"""The few words that an extractive summary adds to what was said, in the language that was spoken."""

from __future__ import annotations

from msgspec import Struct


class Labels(Struct, frozen=True):
    latest: str
    last_request: str
    no_answer: str
    open_call: str
    changed: str
    fails: str
    overcome: str
    resolved: str
    ran: str
    well: str
    badly: str
    asked_user: str
    got_to: str
    branch: str
    note: str
    times: str
    files_left_out: str
    earlier: str
    cut_short: str


ENGLISH = Labels(
    latest="Latest: ",
    last_request="Last request: ",
    no_answer="not answered yet",
    open_call="Call without a result: ",
    changed="changed: ",
    fails="fails: ",
    overcome="Failed before: ",
    resolved="Resolved: ",
    ran="Ran ",
    well="went well",
    badly="failed",
    asked_user="Waiting for the user's answer to: ",
    got_to="So far: ",
    branch="Earlier branch: ",
    note="Note: ",
    times="×",
    files_left_out=" more files in the lists of the entry",
    earlier="(begun earlier)",
    cut_short="cut short",
)

CHINESE = Labels(
    latest="最新请求：",
    last_request="最后的请求：",
    no_answer="尚未答复",
    open_call="没有结果的调用：",
    changed="修改了：",
    fails="失败：",
    overcome="曾失败：",
    resolved="已解决：",
    ran="运行 ",
    well="成功",
    badly="失败",
    asked_user="等待用户回答：",
    got_to="目前进展：",
    branch="早先的分支：",
    note="备注：",
    times=" 次",
    files_left_out=" 个其他文件在条目的列表中",
    earlier="（此前开始）",
    cut_short="被打断",
)

ALL = (ENGLISH, CHINESE)


def begins(text: str, name: str) -> bool:
    """Whether an item begins with that label, in any language."""
    return any(text.startswith(getattr(labels, name)) for labels in ALL)
