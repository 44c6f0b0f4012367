"""The few words that an extractive summary adds to what was said, in the language that was spoken."""

from __future__ import annotations

from collections.abc import Iterable

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


def last_request(steps: Iterable[str]) -> str | None:
    """The last request that the next steps of an extractive summary quote."""
    for step in steps:
        for labels in ALL:
            if step.startswith(labels.last_request):
                return step.removeprefix(labels.last_request).split("”")[0].lstrip("“")
    return None


def bare(item: str) -> str:
    """An item without the words that were added to it."""
    for labels in ALL:
        for name in (labels.open_call, labels.resolved, labels.note, labels.branch, labels.last_request):
            item = item.removeprefix(name)
        item = item.removesuffix(f" ({labels.no_answer})")
    return item.strip("“”`")


def settled(item: str) -> bool:
    """Whether an item of an extractive summary asks for nothing more: a request that was answered, the course of one
    that is quoted elsewhere, a question that waits for the user."""
    if begins(item, "got_to") or begins(item, "asked_user"):
        return True
    return begins(item, "last_request") and not any(item.endswith(f"({labels.no_answer})") for labels in ALL)


def begins(text: str, name: str) -> bool:
    """Whether an item begins with that label, in any language."""
    return any(text.startswith(getattr(labels, name)) for labels in ALL)
