"""What a sentence does: it binds (a constraint), decides, says that something is finished, or asks for nothing.

English and Chinese are known best; of other languages the few words that hardly ever mean anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pi_daemon.compaction.failures import error_line
from pi_daemon.compaction.words import clip, has_cjk, key, one_line, sentences, without_fences

SENTENCE_CHARACTERS = 300
"""Of a sentence; what people state as a rule fits, a pasted line doesn't need to."""

_BINDS = re.compile(
    r"""\b(?:must(?!\s+have\b)|mustn't|never|always|under\s+no\s+circumstances)\b
    |(?:^|[,;:(—–-]\s*|\b(?:please|and|but|so|also|just|then)\s+)(?:do\s+not|don['’]?t|dont|never|avoid|prefer|ensure
        |make\s+sure|be\s+sure|stick\s+(?:to|with)|keep\s+(?!in\s+mind|going|at\s+it)|only\s+(?!a\b|one\b|thing|displays?\b|shows?\b)
        |no\s+(?!,|idea|problem|worries|need\b|clue|way\b|longer\b|more\b)\w+
        |use\s+only|remember\s+(?:to|that)|leave\b.*\b(?:alone|as\s+is|untouched))\b
    |\b(?:should(?:n['’]?t|\s+not|\s+(?:always|only|never))|may\s+not|not\s+allowed|(?:is|are)\s+required
        |i\s+(?:prefer|only\s+want|would\s+(?:only|prefer)|don['’]?t\s+want)
        |we\s+(?:only\s+want|don['’]?t\s+want|never)|no\s+more\s+than|at\s+(?:most|least)\s+\d
        |without\s+(?:any|changing|touching|breaking|using|adding)
        |(?:use|using|do|run|touch|change|edit|modify|want|commit)\s+(?:\w+\s+){0,3}only
        |only\s+(?:use|run|edit|touch|change|modify|commit|test|want|write|when|if|after|for|in))\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""A rule holds for all of the work. What one thing is to be like (should be red) is a request: it is done or not."""

_CLAUSES = re.compile(
    r"(?<=\w),?\s+and\s+(?=(?:please\s+)?(?:never|always|don['’]?t|do\s+not|only|avoid|keep|make\s+sure|it\s+must)\b)",
    re.IGNORECASE,
)
"""Between two rules in one sentence: one may be overtaken and the other not."""

_COMPLAINS = re.compile(
    r"\bshould\s+(?:never|not)\s+happen\b|^\W*(?:no|nope|nah|wait|hm+|yes|yeah|yep)\s*(?:[,.!]|\Z)(?!.*\b(?:must|never|always"
    r"|only|don['’]?t|do\s+not|no)\b)",
    re.IGNORECASE,
)
"""What went wrong just now, or the answer to what was said last."""

_BINDS_CJK = re.compile(
    "不要|必须|不能|务必|禁止|优先|请用|请使用|不得|不许|不准|不可以|只能|只用|只要求|只改|只允许|只需|只可|只准|只修改|只使用|一定要|总是|始终|避免|尽量"
    "|严禁|切勿|请勿|应该|应当|记得|保持|统一用|要求|需要用|别(?![人的名处说致离墅])|勿"
    "|必須|務必|優先|請用|不許|不準|只許|總是|嚴禁|請勿|應該|應當|記得|絕對|绝对"
    "|しないで|してはいけ|必ず|べき|のみ|だけにし|使わない"
)
_BINDS_OTHER = re.compile(
    r"\b(?:niemals|immer|darfst? nicht|muss|müssen|unbedingt|keinesfalls|ausschließlich|bitte (?:kein\w*|nicht|nur)"
    r"|jamais|toujours|il faut|ne \w+ pas|doit|doivent|uniquement|seulement"
    r"|nunca|siempre|debe[ns]?|hay que|solamente|únicamente|no uses?|sempre|deve[m]?|somente|apenas"
    r"|никогда|всегда|нельзя|должн[аоы]|должен|обязательно|только|не надо|нужно)\b"
    r"|반드시|절대|항상|하지 ?마|금지",
    re.IGNORECASE,
)
_MUSES = re.compile(
    r"\b(?:i|we|you|they|he|it)\s+(?:(?:really|still|also)\s+)?(?:don['’]?t|do\s+not|didn['’]?t|can['’]?t|doesn['’]?t)\s+"
    r"(?:think|tink|know|understand|see|get|remember|care|mind|believe|seem|work|show|appear|change)"
    r"|\bi\s+(?:think|tink|guess|suppose|bet|thought|assume)\b(?!.{0,400}\b(?:never|always)\b)"
    r"|\bshould\s+be\s+(?:good|fine|ok|okay|able|ready|done)\b|\b(?:where|what|how|which|who)\b[^.,;]{0,200}\bshould\b|\b(?:must|should)\s+have\s+\w+ed\b|^(?:why|what|how|where|who|which|when|does|do|did|is|are|can|could)\b[^.!]*\?\s*$",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\b(?:not|never|no|don['’]?t|dont|mustn['’]?t|shouldn['’]?t|can['’]?t|cannot|avoid|without|neither|nor|forbid\w*"
    r"|prohibit\w*|instead|rather|stop|exclude\w*|kein\w*|nicht|niemals|nie|jamais|pas|sans|nunca|não|sin|не|нельзя|никогда)\b"
    r"|\b\w+n['’]t\b|[不别勿禁無无非]|严禁|避免|ない|しないで|마|금지",
    re.IGNORECASE,
)
_DECIDES = re.compile(
    r"\b(?:(?:i|we)(?:['’]ve|\s+have)?\s+(?:decided|chose|chosen|agreed|settled|opted)|decid(?:ed|ing)\s+(?:to|on|against|that)"
    r"|decision\s*:|opt(?:ed|ing)?\s+for|settled\s+on|(?:we|i)['’]?ll\s+(?:use|go\s+with|keep|stick|switch|drop|avoid)"
    r"|going\s+with|(?:i|we|to|['’]ll)\s+go\s+with|let['’]?s\s+(?:use|go\s+with|keep|stick))\b"
    r"|^\W*(?:use|keep|prefer|store|put|make|choose|chose|chosen|agreed)\b.*\b(?:instead\s+of|rather\s+than|because)\b"
    "|决定|改用|采用|选择|选用|而不是|不再|方案是|決定|採用|選擇",
    re.IGNORECASE,
)
_NO_DECISION = re.compile(
    r"\b(?:i\s+(?:bet|think|guess|suspect|wonder|assume)|might|may\s+be|maybe|perhaps|probably|possibly|likely|seems?|would\s+explain"
    r"|should\s+now|could)\b|^\W*(?:now|both|currently|this|that|here)\b|\b(?:do|would|shall|should)\s+(?:you|i|we)\b"
    r"|已经?(?:改|更新|完成|修)|可能|也许|大概|似乎|应该是|[，,]?要不要|是否",
    re.IGNORECASE,
)
"""A guess, how things stand, progress, a question: nothing that was settled."""

_REFUTES = re.compile(
    r"^\W*(?:(?:hm+|eh|uh|oh|ok|okay|dude|omfg|wtf|well|actually|sorry|but|and)\b[\s,.!]*)*(?:no\b(?!\s+(?:problem|worries|need))|nope|nah"
    r"|wait\b|stop\b|wtf|wrong\b|that['’]?s\s+(?:not|wrong|horrible|bad)|not\s+(?:like\s+that|what)|you['’]?re\s+wrong"
    r"|i\s+don['’]?t\s+(?:want|like)|revert|undo|never\s?mind|nvm|are\s+you\s+(?:\w+\s+)?stupid|you\s+\w+ed\s+.*\bup\b)"
    r"|\b(?:revert|undo)\s+(?:that|this|it|all)\b|^\W*(?:不对|不是|不行|不要这样|等等|等一下|错了|算了|别这样|还是改|改回|撤销|回退|停)"
    r"|改回|还是用",
    re.IGNORECASE,
)
_FINISHED = re.compile(
    r"\b(?:done|complete[d]?|finished|fixed|implemented|added|removed|updated|created|committed|pushed|released|published"
    r"|passes|passed|passing|works|working|renamed|moved|ported|refactored|replaced|reverted|merged|resolved|succe\w+|ready"
    r"|all (?:tests|checks))\b|已完成|完成了|完成|已修复|修复了|已添加|已更新|已创建|已提交|已删除|通过"
    "|成功|做好|搞定|好了|改好",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\b(?:next(?:[,:]|\s+step|\s+i|\s+up)|remaining|still\s+(?:need|needs|have|to\s+do|missing)|todo|to-do|left\s+to\s+do"
    r"|then\s+i['’]?ll|i\s+(?:still\s+)?need\s+to|follow[- ]up)(?!\w)|接下来|下一步|还需要|还要|尚未|剩下|待办"
    "|然后我会",
    re.IGNORECASE,
)
_ASKS_NOTHING = re.compile(
    r"(?:ok(?:ay)?|yes|yep|yeah|y|no|nope|sure|thanks?|thank you|thx|great|good|nice|cool|perfect|awesome|wow|jesus|hi"
    r"|hey|hello|yo|continue|go on|go ahead|proceed|carry on|keep going|do it|yeah,? do it all|right|correct|exactly"
    r"|lgtm|done|ping|test|sleep|ls|(?:yes|yeah|ok|sure|please),? (?:please|do(?: it| that| so)?)|please do"
    r"|do that|do so|sounds good|go for it|ship it|both|all of (?:it|them)"
    r"|好|好的|好吧|可以|可以的|不错|不错 可以的|继续|行|嗯|是|是的|对|对的|谢谢|你好|您好|收到|没问题"
    r"|开始吧?|需要|要|要的|不需要|不用|不用了|嗯嗯|当然|做吧|改吧|はい|ok 继续)"
    r"[\s.!…。！,，~?？]*\Z",
    re.IGNORECASE,
)
_DROPS = re.compile(
    r"^\W*(?:never\s?mind|nvm\b|forget\s+(?:about\s+)?(?:it|that|this|all)|scrap\s+(?:it|that|this)|drop\s+(?:it|that|this)\b"
    r"|let['’]?s\s+do\s+something\s+else|new\s+task|算了|不用了|别做了|不做了|换个任务|新任务)",
    re.IGNORECASE,
)
_AMENDS = re.compile(
    r"改回|还是|還是|就用|保持|照旧|恢复|\b(?:revert|undo|(?:back|return)\s+to|go\s+back|set\s+(?:it|that)\s+(?:back\s+)?to|keep\s+(?:it|that|the))\b",
    re.IGNORECASE,
)
PASTED_ALONE = 40
"""Characters that a user wrote around what they pasted, below which the error in it is what they mean."""

_PICTURE = re.compile(r"(['\"])[^'\"\n]{1,300}\.(?:png|jpe?g|gif|webp|heic)\1\s*", re.IGNORECASE)
_PASTE_BEGINS = re.compile(r"\s*(?:➜|\$ |\{\"|[╭│┃]|\w+Error:|Error:|Traceback|diff --git|@@|\d{4}-\d\d-\d\d[T ]\d\d:)")
_PASTED = re.compile(
    r"^\s*(?:➜|\$ |% |>{1,3} |at\s+\S+\s*[(:]|\[\w+\]|\{\"|[\d:T.\-]{10,}|[│┃─╭╰━═]|[+\-]\s+\d+|\w+Error:|Error:"
    r"|Traceback|diff --git|@@|[\u2800-\u28ff] |→ |\^\s*$|Node\.js v\d|Waiting for the debugger|Debugger attached"
    r"|throw\s|[~/]\S*:\d+\s*$)|[↑↓]\d|[─━═]{3,}|(?<!\s)\s{8,}\S.*\s{8,}"
    r"|^\s*(?:import|const|let|var|function|class|def|return|if \(|for \(|export)\b.*[;{(]\s*$"
)


def own_words(text: str) -> str:
    """What a user wrote, without code and output they pasted. What is pasted goes on to the next blank line where it
    begins like a terminal's or a log's line."""
    kept: list[str] = []
    pasted = False
    for line in without_fences(text).split("\n"):
        pasted = (pasted and bool(line.strip())) or _PASTE_BEGINS.match(line[:400]) is not None
        if not pasted and not _PASTED.search(line[:400]):
            kept.append(line)
    return "\n".join(kept)


def request_words(text: str) -> str:
    """What a user asks for, on one line: without what was pasted, where that leaves something."""
    own = one_line(own_words(text))
    own = own if len(key(own)) > 8 else one_line(text)
    without = _PICTURE.sub("", own).strip()
    asked = without if len(key(without)) > 5 else own
    if len(asked) < PASTED_ALONE and "\n" in text and (line := error_line(text)) is not None and line not in asked:
        return f"{asked} [{line}]"
    return asked


def constraints(text: str) -> Iterator[str]:
    """The sentences of a user that bind whoever works on."""
    for sentence in sentences(own_words(text)):
        if 4 <= len(sentence) <= 1000 and binds(sentence):
            clauses = [clause for clause in _CLAUSES.split(sentence) if binds(clause)]
            yield from (clip(clause, SENTENCE_CHARACTERS) for clause in clauses or [sentence])


def binds(sentence: str) -> bool:
    if _BINDS_CJK.search(sentence):
        return not re.search(r"[吗么呢?？]\s*\Z", sentence) or re.search("不要|必须|务必|禁止", sentence) is not None
    if not (_BINDS.search(sentence) or _BINDS_OTHER.search(sentence)):
        return False
    if re.search(r"\?\W*\Z", sentence):
        return re.search(r"\b(?:must|never|always)\b", sentence, re.IGNORECASE) is not None
    return not (_MUSES.search(sentence) or _COMPLAINS.search(sentence))


def forbids(sentence: str) -> bool:
    """Whether it says what is not to be; a text that means the same must say so too."""
    return _FORBIDS.search(sentence) is not None


def decisions(text: str) -> Iterator[str]:
    """The sentences of an assistant that settle something."""
    for sentence in sentences(without_fences(text)):
        if (
            24 <= len(sentence) * (1 + has_cjk(sentence)) <= 1200
            and _DECIDES.search(sentence)
            and not _NO_DECISION.search(sentence)
            and not sentence.endswith(("?", "？", ":", "："))
        ):
            yield clip(sentence, SENTENCE_CHARACTERS)


def finished(sentence: str) -> bool:
    return _FINISHED.search(sentence) is not None


def to_do(text: str) -> Iterator[str]:
    """The sentences of an assistant that say what is still to be done."""
    for sentence in sentences(without_fences(text)):
        if 8 <= len(sentence) <= 600 and _NEXT.search(sentence):
            yield clip(sentence, SENTENCE_CHARACTERS)


def asks_nothing(text: str) -> bool:
    """A greeting, a nod, a word to go on, a slash command: no request that one could lose."""
    line = one_line(text)
    if len(line) > 40:
        return False
    if line.startswith(("/", "!")) and " " not in line:
        return True
    return len(key(line)) < 2 or _ASKS_NOTHING.match(line) is not None


def refutes(text: str) -> bool:
    """Whether a message of the user turns down or corrects what was said or done right before it."""
    return _REFUTES.search(own_words(text)[:600]) is not None


def drops_goal(text: str) -> bool:
    """Whether what was asked for before is taken back, and not only a detail of it."""
    return _DROPS.search(text) is not None and not _AMENDS.search(text)
