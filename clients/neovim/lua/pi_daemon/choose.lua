--- Sessions to choose from, and the search for them, with vim.ui.select.

local client = require("pi_daemon.client").get()
local notify = require("pi_daemon.notify")
local open = require("pi_daemon.open")
local text = require("pi_daemon.text")

local M = {}

--- Columns that Neovim's own list needs for numbers.
local NUMBERS = 6

local function title(info)
  local words = info.name and info.name ~= "" and info.name or info.firstMessage
  return text.line(words ~= "" and words or "(empty)")
end

--- Columns for a directory.
local WHERE = 30

--- A directory, whose end says most.
local function directory(cwd)
  local path = text.line(vim.fn.fnamemodify(cwd, ":~"))
  local width = vim.fn.strchars(path)
  while vim.fn.strdisplaywidth(path) > WHERE do
    width = width - 1
    path = "…" .. vim.fn.strcharpart(path, vim.fn.strchars(path) - width + 1)
  end
  return path
end

--- One line of the screen: when, what, and where if that is elsewhere. `twice`: others are called the same.
local function described(info, twice)
  local when = info.modified:sub(1, 16):gsub("T", " ")
  local where = info.cwd ~= vim.fn.getcwd() and "  " .. directory(info.cwd) or ""
  local id = (twice and "  " .. text.line(info.sessionId:sub(1, twice)) or "") .. (info.damaged and "  (damaged)" or "")
  local taken = NUMBERS + #when + 2 + vim.fn.strdisplaywidth(where .. id)
  local room = math.max(10, math.min(vim.o.columns, 120) - taken)
  local words = text.shortened(title(info), room)
  return when .. "  " .. words .. id .. (" "):rep(room - vim.fn.strdisplaywidth(words)) .. where
end

--- By title, how much of an id tells those apart that share it.
local function twins(infos)
  local ids, length = {}, {}
  for _, info in ipairs(infos) do
    local name = title(info)
    ids[name] = ids[name] or {}
    table.insert(ids[name], info.sessionId)
  end
  for name, same in pairs(ids) do
    table.sort(same)
    for place = 2, #same do
      local one, other, size = same[place - 1], same[place], 8
      while size < #one and one:sub(1, size) == other:sub(1, size) do
        size = size + 1
      end
      length[name] = math.max(length[name] or 8, size)
    end
  end
  return length
end

--- Whether choices are put by Neovim itself, which prints them all. Plugins that replace it let one scroll and search.
local function plain()
  return debug.getinfo(vim.ui.select, "S").source:match("vim/ui%.lua$") ~= nil
end

--- vim.ui.select, by Neovim itself a screen at a time.
local function select(items, options, choose, from)
  from = from or 1
  local room = vim.o.lines - NUMBERS
  if not plain() or #items - from < room then
    return vim.ui.select(from == 1 and items or vim.list_slice(items, from), options, choose)
  end
  local page = vim.list_slice(items, from, from + room - 1)
  local more = { more = #items - from - room + 1 }
  page[#page + 1] = more
  local shown = vim.tbl_extend("force", options, {
    format_item = function(item)
      return item == more and ("… %d more"):format(item.more) or options.format_item(item)
    end,
  })
  vim.ui.select(page, shown, function(item)
    if item == more then
      return select(items, options, choose, from + room)
    end
    choose(item)
  end)
end

local function choose_of(infos, prompt)
  local twice = twins(infos)
  local function format(info)
    return described(info, twice[title(info)])
  end
  select(infos, { prompt = prompt, format_item = format, kind = "pi-daemon-session" }, function(info)
    if info then
      open.session({ sessionId = info.sessionId })
    end
  end)
end

local function list(callback)
  open.all(function(problem, sessions)
    if problem then
      return notify.failed("list the sessions", problem)
    end
    if #sessions == 0 then
      local where = client.daemon and client.daemon.sessionsDir or "the sessions directory"
      return notify.info(("there are no sessions in %s yet: pi makes them."):format(where))
    end
    callback(sessions)
  end)
end

--- Choose a session; those of this directory come first.
function M.sessions()
  list(function(infos)
    local cwd = vim.fn.getcwd()
    local near, far = {}, {}
    for _, info in ipairs(infos) do
      table.insert(info.cwd == cwd and near or far, info)
    end
    choose_of(vim.list_extend(near, far), "Session")
  end)
end

--- What a daemon without `session/search` can tell: names, first messages and directories that have the words.
local function search_titles(query)
  list(function(infos)
    local wanted = query:lower()
    local hits = vim.tbl_filter(function(info)
      local words = table.concat({ info.name or "", info.firstMessage, info.cwd }, "\n"):lower()
      return words:find(wanted, 1, true) ~= nil
    end, infos)
    if #hits == 0 then
      local message =
        "no session's name, first message or directory has “%s”. (This daemon can't search in messages.)"
      return notify.info(message:format(query))
    end
    choose_of(hits, ("Sessions named like “%s”"):format(query))
  end)
end

local function described_hit(hit)
  local when = (hit.timestamp or ""):sub(1, 16):gsub("T", " ")
  local room = math.max(10, math.min(vim.o.columns, 120) - NUMBERS - #when - 2)
  return when .. "  " .. text.shortened(text.line(hit.snippet or ""), room)
end

local function search(query)
  client:request("session/search", { query = query }, function(problem, found)
    if problem and problem.reason == "methodNotFound" then
      return search_titles(query)
    elseif problem then
      return notify.failed("search", problem)
    end
    if #found.hits == 0 then
      local more = found.complete == false and " The index is not complete yet: try again." or ""
      return notify.info(("nothing was found for “%s”.%s"):format(query, more))
    end
    local prompt = ("Found for “%s”"):format(query)
    select(found.hits, { prompt = prompt, format_item = described_hit, kind = "pi-daemon-hit" }, function(hit)
      if hit then
        open.session({ sessionId = hit.sessionId }, hit.entryId)
      end
    end)
  end)
end

--- Search the sessions for words; without them they are asked for.
function M.search(query)
  if query and query ~= "" then
    return search(query)
  end
  vim.ui.input({ prompt = "Search the sessions for: " }, function(words)
    if words and vim.trim(words) ~= "" then
      search(vim.trim(words))
    end
  end)
end

return M
