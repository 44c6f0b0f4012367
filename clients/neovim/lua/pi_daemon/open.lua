--- From what a user calls a session to the session.

local client = require("pi_daemon.client").get()
local notify = require("pi_daemon.notify")
local session = require("pi_daemon.session")

local M = {}

--- Sessions that the last list had, for completion.
M.known = {}

local function list(params, callback)
  client:request("session/list", params, function(problem, found)
    if found then
      M.known = found.sessions
    end
    callback(problem, found)
  end)
end

--- Sessions that are asked for at a time: as many as the protocol allows.
M.PAGE = 1000

--- All sessions, page by page: callback(problem, sessions).
local function all(callback)
  local sessions = {}
  local function page(cursor)
    client:request("session/list", { limit = M.PAGE, cursor = cursor }, function(problem, found)
      if problem then
        return callback(problem)
      end
      vim.list_extend(sessions, found.sessions)
      if found.nextCursor then
        return page(found.nextCursor)
      end
      M.known = sessions
      callback(nil, sessions)
    end)
  end
  page(nil)
end
M.all = all

local function by_name(name, callback)
  all(function(problem, sessions)
    local whole, begun = {}, {}
    for _, info in ipairs(sessions or {}) do
      if info.sessionId == name or info.name == name then
        table.insert(whole, info)
      elseif vim.startswith(info.sessionId, name) then
        table.insert(begun, info)
      end
    end
    local found = #whole > 0 and whole or begun
    if problem then
      return callback(problem)
    elseif #found == 0 then
      return callback({ reason = "sessionNotFound", message = ("no session is called “%s”"):format(name) })
    elseif #found > 1 then
      local message = ("%d sessions are called “%s”"):format(#found, name)
      return callback({ reason = "ambiguousSession", message = message })
    end
    callback(nil, { sessionId = found[1].sessionId })
  end)
end

--- `{ sessionId }` or `{ path }` for a name: the beginning of an id, a session's name, a path, or "last".
function M.resolve(name, callback)
  if name == "last" then
    return list({ limit = 1 }, function(problem, found)
      local info = found and found.sessions[1]
      problem = problem or not info and { reason = "noSessions", message = "there are no sessions yet" }
      callback(problem, info and { sessionId = info.sessionId })
    end)
  end
  local path = vim.fs.abspath(vim.fs.normalize(name))
  if name:find("/", 1, true) and vim.uv.fs_stat(path) or name:match("%.jsonl$") then
    return callback(nil, { path = path })
  end
  by_name(name, callback)
end

--- Open what was found, and ask whether to go on where lines of it can't be read.
local function open(target, callback)
  session.open(target, function(problem, opened)
    if problem and problem.reason == "sessionCorrupted" and problem.data.recoverable and not target.recover then
      local prompt = "Some lines of this session can't be read, and entries hang on them."
      return vim.ui.select({ "Open it without them", "Leave it" }, { prompt = prompt }, function(_, which)
        if which == 1 then
          open(vim.tbl_extend("force", target, { recover = "skip" }), callback)
        end
      end)
    end
    callback(problem, opened)
  end)
end

--- Follow a session by its name; callback(session).
function M.follow(name, callback)
  M.resolve(name, function(problem, target)
    if problem then
      return notify.failed("open the session", problem)
    end
    open(target, function(trouble, opened)
      if trouble then
        return notify.failed("open the session", trouble)
      end
      callback(opened)
    end)
  end)
end

--- Show the panel of `{ sessionId }` or `{ path }`, with the cursor on `entry` if one is named.
function M.session(target, entry)
  open(target, function(problem, opened)
    if problem then
      return notify.failed("open the session", problem)
    end
    M.show(opened, entry)
  end)
end

function M.show(opened, entry)
  require("pi_daemon.status").last = opened
  local panel = require("pi_daemon.panel").open(opened)
  if entry then
    panel:look_for(entry)
  end
end

--- The panel of what the user works on: the session file in this buffer, else the newest session of this directory,
--- else one of them all.
function M.here()
  local file = vim.api.nvim_buf_get_name(0)
  if file:match("%.jsonl$") and vim.bo.buftype == "" and vim.uv.fs_stat(file) then
    return M.session({ path = file })
  end
  list({ cwd = vim.fn.getcwd(), limit = 1 }, function(problem, found)
    if problem then
      return notify.failed("list the sessions", problem)
    end
    if found.sessions[1] then
      return M.session({ sessionId = found.sessions[1].sessionId })
    end
    require("pi_daemon.choose").sessions()
  end)
end

return M
