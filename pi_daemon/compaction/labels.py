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
    earlier: str
    cut_short: str
    goes_on: str
    answered: str
    unseen: str
    seems_done: str
    superseded: str
    digest: str
    left_out: str
    look_after: str
    gone: str
    renamed: str
    stopped: str
    in_reply_to: str
    found: str


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
    earlier="(begun earlier)",
    cut_short="Cut short: ",
    goes_on="goes on after this summary",
    answered="Asked: ",
    seems_done="Seems done: ",
    unseen="From an earlier summary, not seen since: ",
    superseded="superseded since by: ",
    digest="Earlier requests: ",
    left_out="earlier requests are left out",
    look_after="Asked to look after: ",
    gone="Removed since: ",
    renamed="Renamed since: ",
    stopped="stopped by the user",
    in_reply_to="in reply to",
    found="Found: ",
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
    earlier="（此前开始）",
    cut_short="被打断：",
    goes_on="在本摘要之后继续",
    answered="问答：",
    seems_done="看来已完成：",
    unseen="来自更早的摘要，此后未再提及：",
    superseded="后来被取代：",
    digest="更早的请求：",
    left_out="个更早的请求未列出",
    look_after="要求关注：",
    gone="后来删除了：",
    renamed="后来改名：",
    stopped="被用户中止",
    in_reply_to="回答",
    found="发现：",
)

ALL = (ENGLISH, CHINESE)


def last_request(steps: Iterable[str]) -> str | None:
    """The last request that the next steps of an extractive summary quote."""
    for step in steps:
        for labels in ALL:
            if step.startswith(labels.last_request):
                return step.removeprefix(labels.last_request).split("”")[0].lstrip("“")
    return None


def waiting_for(steps: Iterable[str]) -> str:
    """The question that the next steps of an extractive summary say is to be answered; "" where none is."""
    for step in steps:
        for labels in ALL:
            if step.startswith(labels.asked_user):
                return step.removeprefix(labels.asked_user)
    return ""


def bare(item: str) -> str:
    """An item without the words that were added to it."""
    for labels in ALL:
        for name in (
            labels.unseen,
            labels.seems_done,
            labels.open_call,
            labels.resolved,
            labels.note,
            labels.branch,
            labels.last_request,
        ):
            item = item.removeprefix(name)
        item = item.removesuffix(f" ({labels.no_answer})").removesuffix(f" ({labels.goes_on})")
    return item.strip("“”`")


def settled(item: str) -> bool:
    """Whether an item of an extractive summary asks for nothing more: a request that was answered, the course of one
    that is quoted elsewhere, a question that waits for the user, what an older summary wanted and nobody has
    spoken of since."""
    if any(begins(item, name) for name in ("got_to", "asked_user", "unseen", "digest")):
        return True
    return begins(item, "last_request") and not any(
        item.endswith((f"({labels.no_answer})", f"({labels.goes_on})")) for labels in ALL
    )


def overtaken(item: str) -> bool:
    """Whether an item says of itself that it doesn't hold any more."""
    return any(f"({labels.superseded}" in item for labels in ALL)


def begins(text: str, name: str) -> bool:
    """Whether an item begins with that label, in any language."""
    return any(text.startswith(getattr(labels, name)) for labels in ALL)
