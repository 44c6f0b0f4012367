"""The headings of a summary's sections: ours, and what others call them."""

from __future__ import annotations

import re
from typing import Literal

Name = Literal["goal", "constraints", "done", "in_progress", "blocked", "decisions", "next_steps", "critical"]

HEADINGS: dict[Name, tuple[str, int]] = {
    "goal": ("Goal", 2),
    "constraints": ("Constraints & Preferences", 2),
    "done": ("Done", 3),
    "in_progress": ("In Progress", 3),
    "blocked": ("Blocked", 3),
    "decisions": ("Key Decisions", 2),
    "next_steps": ("Next Steps", 2),
    "critical": ("Critical Context", 2),
}
"""Each section's heading and its level, in order. Those of level 3 stand under `Progress`."""

NONE = "(none)"

NOTHING = frozenset({"none", "none yet", "n/a", "nothing", "无", "暂无", "無", "没有", "なし", "없음"})
"""What an empty section says."""

SPLIT_HEADING = "How the Current Turn Began"
"""Names the summary of the beginning of the turn that the cut splits; its later part follows as it was said."""

_SPLIT = frozenset({SPLIT_HEADING.casefold(), "turn context (split turn)", "current turn", "当前回合", "本轮开头"})

_ALIASES: dict[Name, str] = {
    "goal": """goal|goals|objective|objectives|task|tasks|purpose|user goal|primary request|user request
        |original request|request|primary request and intent|overview|目标|任务|任务目标|目的|用户目标|用户请求|用户需求
        |需求|原始请求|目標|任務|ゴール|목표|ziel|objectif|objetivo|цель""",
    "constraints": """constraints and preferences|constraints|preferences|requirements|user preferences|rules
        |user constraints|约束与偏好|约束和偏好|约束|偏好|限制|要求|用户偏好|约束条件|限制与偏好|約束
        |約束與偏好|制約""",
    "done": """progress|done|completed|completed work|finished|accomplished|accomplishments|work done|what was done
        |progress so far|status|current status|completed tasks|changes made|进度|进展|已完成|完成
        |已完成的工作|完成的工作|当前进度|目前进展|進度|進展|已做|完了|erledigt""",
    "in_progress": """in progress|current work|current task|current tasks
        |ongoing|wip|work in progress|currently working on|pending|pending tasks
        |open tasks|todo|todos|to do|remaining|remaining work|unfinished|进行中|正在进行|当前工作|未完成|待完成|待办
        |待办事项|剩余工作|進行中|待辦""",
    "blocked": """blocked|blockers|blocking|issues|problems|open issues|known issues|受阻|阻塞|阻碍|被阻塞|卡住|问题
        |遇到的问题|存在的问题|已知问题|阻礙|問題""",
    "decisions": """key decisions|decisions|design decisions|important decisions|decisions made
        |technical decisions|关键决策|决策|重要决策|决定|关键决定|设计决策|主要决策|關鍵決策|決定""",
    "next_steps": """next steps|next step|next|what's next|next actions|plan|upcoming|follow-up|optional next step
        |下一步|后续步骤|接下来|下一步计划|后续|后续工作|后续计划|下步计划|下一步骤|後續步驟|接下來|次のステップ""",
    "critical": """critical context|context|key context|important context|critical information|important details|notes
        |key facts|references|context needed to continue|additional context|errors|errors and fixes|technical details
        |关键上下文|重要上下文|上下文|关键信息|重要信息|背景|备注|关键背景|参考|错误|继续所需的上下文|關鍵上下文|備註""",
}

_BY_TITLE: dict[str, Name] = {
    alias.strip(): name for name, aliases in _ALIASES.items() for alias in aliases.replace("\n", " ").split("|")
}

LONGEST = 200
"""Characters of a line that can be a heading."""

_LONG = {alias: name for alias, name in _BY_TITLE.items() if " " in alias}
"""Those that stay what they are with a word after them: `Key decisions made`."""

_MARKED = re.compile(r" ?(#{1,6})(?:\s+(.*?))?\s*#*\Z")
_BOLD = re.compile(
    r"(?:\d{1,2}[.)]\s+)?(\*\*|__)(?P<title>[^*_]{1,60}?)\s*(?P<colon>[:：]?)\s*\1\s*[:：]?\s*(?P<rest>.*)\Z"
)
_PLAIN = re.compile(r"(?P<title>[^:：]{1,40}?)\s*[:：]\s*(?P<rest>.*)\Z")
_BRACKETS = re.compile(r"【(?P<title>[^】]{1,40})】\s*[:：]?\s*(?P<rest>.*)\Z")
_NUMBER = re.compile(r"\A(?:\d{1,2}|[一二三四五六七八九十]{1,2})[.)、．]\s*")
_LISTED = re.compile(r" ?[-*+•](?:\s|\Z)")


def title_of(text: str) -> str:
    """A heading as it is compared."""
    text = " ".join(text.split()).strip("#*_:： ").casefold().replace("&", "and").replace("’", "'")
    return _NUMBER.sub("", text, count=1).strip() or text


def named(title: str) -> Name | None:
    """The section that a heading means; `Progress / Done` means what its end says."""
    title = title_of(title)
    bare = re.sub(r"\s*[(（].*?[)）]\s*", "", title).strip()
    found = _BY_TITLE.get(title) or _BY_TITLE.get(bare) or _BY_TITLE.get(re.split(r"\s*[/>]\s*", bare)[-1])
    if found is None:
        found = next((name for alias, name in _LONG.items() if bare.startswith(alias + " ")), None)
    return found


def heading_of(line: str) -> tuple[Name | None, str, str] | None:
    """If a line at the margin is a heading: the section it means (None: one the form doesn't know), its title, and
    what of the section stands on the line."""
    if len(line) > LONGEST:
        return None
    if marked := _MARKED.match(line):
        title = (marked[2] or "").strip("#*_:： ")
        name = named(title)
        if name is not None:
            return name, title, ""
        for shape in (_PLAIN, _BRACKETS):
            if (found := shape.match(title)) and (name := named(found["title"])):
                return name, found["title"], found["rest"]
        return (None, " ".join(title.split()), "") if title else ("critical", "", "")
    if _LISTED.match(line):
        return None
    numbered = _NUMBER.match(line) is not None
    for shape in (_BOLD, _PLAIN, _BRACKETS):
        if (found := shape.match(line)) and (name := named(found["title"])):
            if numbered and found["rest"]:
                return None  # an item of a list
            if shape is _BOLD and found["rest"] and not re.search(r"[:：]", line[: found.start("rest")]):
                continue  # a sentence that begins in bold
            return name, found["title"], found["rest"]
    return None


def is_split_heading(line: str) -> bool:
    return not line.startswith("  ") and line.lstrip(" ").startswith(("#", "*")) and title_of(line) in _SPLIT
