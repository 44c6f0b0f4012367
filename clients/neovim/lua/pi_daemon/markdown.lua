--- Entries and messages as lines of Markdown. Images are named, never shown.

local text = require("pi_daemon.text")

local M = {}

local function add(lines, more)
  vim.list_extend(lines, more)
end

--- A fence that is longer than any in the text.
local function fenced(words, language)
  local longest = 2
  for run in words:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  local fence = ("`"):rep(longest + 1)
  local lines = { fence .. (language or "") }
  add(lines, text.lines((words:gsub("\n$", ""))))
  lines[#lines + 1] = fence
  return lines
end
M.fenced = fenced

local function json(value)
  return vim.json.encode(value)
end

--- Tool calls' arguments: strings of several lines as they are, the rest as JSON.
local function call(block)
  local lines = { "**calls " .. text.line(block.name or "?") .. "** `" .. text.line(block.id or "") .. "`" }
  local arguments = block.arguments
  if type(arguments) ~= "table" then
    return lines
  end
  local names = vim.tbl_keys(arguments)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, name in ipairs(names) do
    local value = arguments[name]
    if type(value) == "string" and value:find("\n") then
      lines[#lines + 1] = "- " .. text.line(name) .. ":"
      add(lines, fenced(value))
    else
      local words = type(value) == "string" and value or json(value)
      lines[#lines + 1] = "- " .. text.line(name) .. ": " .. text.line(words)
    end
  end
  return lines
end

local BLOCKS = {
  text = function(block)
    return text.lines(block.text or "")
  end,
  thinking = function(block)
    local lines = {}
    for _, line in ipairs(text.lines(block.thinking or "")) do
      lines[#lines + 1] = "> " .. line
    end
    return lines
  end,
  toolCall = call,
  image = function(block)
    local bytes = type(block.data) == "string" and math.floor(#block.data * 3 / 4) or 0
    return { ("[image: %s, %s bytes]"):format(text.line(block.mimeType or "unknown kind"), text.number(bytes)) }
  end,
}

--- A message's content: text or blocks.
function M.content(content)
  if type(content) == "string" then
    return text.lines(content)
  end
  local lines = {}
  for _, block in ipairs(type(content) == "table" and content or {}) do
    if #lines > 0 then
      lines[#lines + 1] = ""
    end
    local known = type(block) == "table" and BLOCKS[block.type]
    add(lines, known and known(block) or fenced(json(block), "json"))
  end
  return lines
end

local function bash(message)
  local lines = fenced("$ " .. (message.command or ""), "sh")
  add(lines, fenced(message.output or ""))
  return lines
end

local NAMES = {
  user = "User",
  assistant = "Model",
  toolResult = "Tool result",
  bashExecution = "Shell",
  system = "System",
  custom = "Note",
  branchSummary = "Summary of a branch",
  compactionSummary = "Summary of what came before",
}

--- What a message's heading says: who, and with which tool or model.
function M.heading(message)
  local name = NAMES[message.role] or text.line(message.role or "Message")
  if message.role == "toolResult" then
    name = name .. " of " .. text.line(message.toolName or "?") .. (message.isError and ", an error" or "")
  elseif message.role == "custom" then
    name = name .. " " .. text.line(message.customType or "")
  end
  return name
end

--- The lines of a message, without a heading.
function M.message(message)
  if message.role == "bashExecution" then
    return bash(message)
  end
  if message.summary and not message.content then
    return text.lines(message.summary)
  end
  if message.role == "toolResult" then
    local lines = {}
    for _, block in ipairs(type(message.content) == "table" and message.content or {}) do
      add(lines, block.type == "text" and fenced(block.text or "") or M.content({ block }))
    end
    return lines
  end
  local lines = M.content(message.content or message.sections and json(message.sections) or "")
  if type(message.errorMessage) == "string" then
    add(lines, { "", "**failed**: " .. text.line(message.errorMessage) })
  end
  return lines
end

return M
