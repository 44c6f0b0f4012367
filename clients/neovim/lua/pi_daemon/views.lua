--- What floats show: an entry in full, what the model sees, what a compaction did.

local float = require("pi_daemon.float")
local markdown = require("pi_daemon.markdown")
local text = require("pi_daemon.text")

local M = {}

local function fact(lines, name, value)
  if value ~= nil and value ~= "" then
    lines[#lines + 1] = ("- %s: %s"):format(name, text.line(value))
  end
end

--- Members that the heading or the body of an entry tells already.
local TOLD =
  { id = true, parentId = true, timestamp = true, type = true, message = true, summary = true, content = true }

local function body(entry)
  if type(entry.message) == "table" then
    return markdown.message(entry.message)
  end
  local lines = {}
  if type(entry.summary) == "string" then
    lines = text.lines(entry.summary)
  elseif entry.content ~= nil then
    lines = markdown.content(entry.content)
  end
  local rest = {}
  for name, value in pairs(entry) do
    rest[name] = not TOLD[name] and value or nil
  end
  if next(rest) then
    if #lines > 0 then
      lines[#lines + 1] = ""
    end
    vim.list_extend(lines, markdown.fenced(vim.json.encode(rest), "json"))
  end
  return lines
end

--- An entry as it is stored, and the node that the panel shows of it.
function M.entry(entry, node)
  local message = type(entry.message) == "table" and entry.message or {}
  local lines = {}
  fact(lines, "entry", entry.id)
  fact(lines, "under", entry.parentId or "nothing: it is a root")
  fact(lines, "when", entry.timestamp)
  fact(lines, "label", node and node.label)
  if message.provider then
    fact(lines, "model", tostring(message.provider) .. "/" .. tostring(message.model))
  end
  fact(lines, "stopped", message.stopReason)
  if type(message.usage) == "table" then
    local usage = message.usage
    local words = ("%s in, %s out"):format(text.number(usage.input or 0), text.number(usage.output or 0))
    if (usage.cacheRead or 0) > 0 then
      words = words .. ", " .. text.number(usage.cacheRead) .. " from the cache"
    end
    fact(lines, "tokens", words)
  end
  fact(lines, "answers call", message.toolCallId)
  lines[#lines + 1] = ""
  vim.list_extend(lines, body(entry))
  local title = message.role and markdown.heading(message) or entry.type
  return float.open(lines, { title = title, markdown = true, wide = true })
end

local PROBLEMS = {
  callWithoutResult = "the tool call %s has no result",
  resultWithoutCall = "there is a result of the tool call %s, but no call",
}

--- What the model sees: the answer to `session/context`.
function M.context(session, context)
  local window = session:window()
  local size = text.number(context.tokens) .. " tokens"
  if window then
    size = ("%s of %s (%d%%)"):format(size, text.number(window), math.floor(context.tokens / window * 100 + 0.5))
  end
  local lines = { ("%s, about %s."):format(text.count(#context.messages, "message"), size) }
  if context.model then
    local level = context.thinkingLevel and ", thinking " .. context.thinkingLevel or ""
    lines[#lines + 1] = text.line(("Model %s/%s%s."):format(context.model.provider, context.model.modelId, level))
  end
  if context.compactionId then
    lines[#lines + 1] = "What came before the first message was compacted; its summary stands for it."
  end
  for _, problem in ipairs(context.problems) do
    local words = (PROBLEMS[problem.kind] or problem.kind .. " %s"):format(text.line(problem.toolCallId))
    lines[#lines + 1] = ("**A provider would refuse this**: %s (entry %s)."):format(words, text.line(problem.entryId))
  end
  for place, message in ipairs(context.messages) do
    vim.list_extend(
      lines,
      { "", ("# %s `%s`"):format(markdown.heading(message), text.line(context.sources[place])), "" }
    )
    vim.list_extend(lines, markdown.message(message))
  end
  return float.open(lines, { title = "What the model sees: " .. session:title(), markdown = true, wide = true })
end

local FACTS = {
  request = "the last request",
  constraint = "what the user demanded",
  unfinished = "what was left to do",
  openCall = "calls without a result",
  error = "errors that stand",
  modified = "modified files",
  reference = "what results gave",
  overcome = "errors that were overcome",
  read = "files that were read",
}
local IN_ORDER =
  { "request", "constraint", "unfinished", "openCall", "error", "modified", "reference", "overcome", "read" }

--- What a compaction did, and what its summary kept: the answer to `session/compact`.
function M.compacted(session, result)
  local retention = result.retention
  local by = result.model and ("%s (%s)"):format(result.summarizer, result.model) or result.summarizer
  local lines = {
    ("%s tokens before, about %s now. Summarized by %s."):format(
      text.number(result.tokensBefore),
      text.number(result.tokensAfter),
      text.line(by)
    ),
    "",
    ("# Kept: %d%% of the facts"):format(math.floor(retention.scoreAfter * 100 + 0.5)),
    "",
  }
  for _, kind in ipairs(IN_ORDER) do
    local tally = retention.kinds[kind]
    if tally and tally.asked > 0 then
      lines[#lines + 1] = ("- %s: %d of %d"):format(FACTS[kind], tally.kept, tally.asked)
    end
  end
  if #retention.missing > 0 then
    local added = retention.policy == "amend" and " by itself; it was added as far as there was room" or ""
    vim.list_extend(lines, { "", "# Not in the summary" .. added, "" })
    for _, missing in ipairs(retention.missing) do
      lines[#lines + 1] = ("- %s: %s"):format(FACTS[missing.kind] or missing.kind, text.line(missing.text))
    end
    if retention.missingLeftOut > 0 then
      lines[#lines + 1] = ("- and %s"):format(text.count(retention.missingLeftOut, "more fact"))
    end
  end
  vim.list_extend(lines, { "", "# The summary", "" })
  vim.list_extend(lines, text.lines(result.summary))
  return float.open(lines, { title = "Compacted: " .. session:title(), markdown = true, wide = true })
end

return M
