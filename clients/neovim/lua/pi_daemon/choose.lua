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

--- One line of the screen: when, what, and where if that is elsewhere.
local function described(info)
  local when = info.modified:sub(1, 16):gsub("T", " ")
  local where = ""
  if info.cwd ~= vim.fn.getcwd() then
    where = "  " .. text.shortened(text.line(vim.fn.pathshorten(vim.fn.fnamemodify(info.cwd, ":~"), 3)), 30)
  end
  local room = math.max(10, math.min(vim.o.columns, 120) - NUMBERS - #when - 2 - vim.fn.strdisplaywidth(where))
  local words = text.shortened(title(info), room)
  return when .. "  " .. words .. (" "):rep(room - vim.fn.strdisplaywidth(words)) .. where
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
  select(infos, { prompt = prompt, format_item = described, kind = "pi-daemon-session" }, function(info)
    if info then
      open.session({ sessionId = info.sessionId })
    end
  end)
end

local function list(callback)
  open.list({ limit = 1000 }, function(problem, found)
    if problem then
      return notify.failed("list the sessions", problem)
    end
    if #found.sessions == 0 then
      local where = client.daemon and client.daemon.sessionsDir or "the sessions directory"
      return notify.info(("there are no sessions in %s yet: pi makes them."):format(where))
    end
    callback(found.sessions)
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
