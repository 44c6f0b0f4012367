--- Sessions that are followed: what the daemon says of them, kept up to date, also across lost connections.
--- Whoever listens is told `changed` when there is something new to show, and `removed` at the end.

local client = require("pi_daemon.client").get()
local config = require("pi_daemon.config")
local events = require("pi_daemon.events")
local reader = require("pi_daemon.reader")

local Session = {}
Session.__index = Session

local M = { followed = {} }

--- Reasons that go by themselves: the tree is read again once there is a daemon.
local PASSING = {
  connectionLost = true,
  shuttingDown = true,
  daemonUnavailable = true,
  noSocket = true,
  noProgram = true,
  overloaded = true,
  notAnswering = true,
}

local AGAIN = 1000

local function adopt(state)
  local session = M.followed[state.sessionId]
  if not session then
    session = setmetatable({
      id = state.sessionId,
      filter = config.current.filter,
      whole = false, -- whether all entries are wanted, though there are many
      nodes = {},
      listeners = {},
    }, Session)
    M.followed[session.id] = session
  end
  session:_set(state)
  return session
end

--- Open a session and follow it. `target`: { sessionId } or { path }, and `recover`.
function M.open(target, callback)
  client:request("session/open", target, function(problem, state)
    if problem then
      return callback(problem)
    end
    local session = adopt(state)
    session.recover = target.recover or session.recover
    session.status = "live"
    session:refresh()
    callback(nil, session)
  end)
end

function Session:_set(state)
  self.name, self.path, self.cwd = state.name, state.path, state.cwd
  self.instance, self.revision = state.instanceId, state.revision
  self.entry_count, self.tokens = state.entryCount, state.contextTokens
  self.options, self.model, self.damage = state.options or {}, state.model, state.damage or {}
  self.read_only = state.readOnly
end

function Session:listen(listener)
  self.listeners[#self.listeners + 1] = listener
end

function Session:tell(what)
  for _, listener in ipairs(self.listeners) do
    listener(what)
  end
end

--- What it is called.
function Session:title()
  return self.name and self.name ~= "" and self.name or "session " .. self.id:sub(1, 8)
end

--- The model's window in tokens, or nil.
function Session:window()
  local given = self.options.contextWindow or config.current.context_window
  if type(given) == "function" then
    local fine, value = pcall(given, { model = self.model, cwd = self.cwd, name = self.name, sessionId = self.id })
    given = fine and value or nil
  end
  return type(given) == "number" and given > 0 and given or nil
end

function Session:request(method, params, callback, options)
  return client:request(method, vim.tbl_extend("force", { sessionId = self.id }, params), callback, options)
end

--- Read the tree anew: now, or after the reading that is under way.
function Session:refresh()
  self.dirty = true
  if self.reading or self.pausing or self.status == "removed" then
    return
  end
  self.dirty, self.reading = false, true
  local began = vim.uv.now()
  reader.read(self, function(problem, found)
    self.reading = false
    local pause
    if not problem then
      for name, value in pairs(found) do
        self[name] = value
      end
      -- A session that grows all the time costs the daemon and us no more than a third of the time.
      pause = 2 * (vim.uv.now() - began)
    elseif PASSING[problem.reason] then
      self.dirty, pause = true, AGAIN
    else
      self:_lost(problem)
    end
    if pause then
      self.pausing = true
      vim.defer_fn(function()
        self.pausing = false
        if self.dirty then
          self:refresh()
        end
      end, pause)
    end
    self:tell("changed")
  end)
end

function Session:_lost(problem)
  self.status, self.problem = "failed", problem
  if problem.reason == "sessionNotFound" then
    self.status = "deleted"
  end
end

--- After the connection or the daemon was another: subscribe again, and learn what was missed.
function Session:resume()
  if self.status == "removed" then
    return
  end
  self.pausing = false
  if self.recover then
    -- That it opens with lines that can't be read held for the connection that is gone.
    return self:_open_anew()
  end
  local since = { instanceId = self.instance, revision = self.revision }
  self:request("session/subscribe", { since = since }, function(problem, found)
    if problem then
      return self:_not_resumed(problem)
    end
    self.status, self.problem, self.compacting = "live", nil, nil
    if found.fresh then
      return self:_open_anew()
    end
    for _, event in ipairs(found.events or {}) do
      events.apply(self, event.method, event.params)
    end
    self.instance, self.revision = found.instanceId, found.revision
    self:refresh()
    self:tell("changed")
  end)
end

function Session:_open_anew()
  self:request("session/open", { recover = self.recover }, function(problem, state)
    if problem then
      return self:_not_resumed(problem)
    end
    self:_set(state)
    self.status, self.problem, self.compacting = "live", nil, nil
    self:refresh()
    self:tell("changed")
  end)
end

function Session:_not_resumed(problem)
  if not PASSING[problem.reason] then
    self:_lost(problem)
  else
    vim.defer_fn(function()
      if self.status == "away" and client.state == "ready" then
        self:resume()
      end
    end, AGAIN)
  end
  self:tell("changed")
end

--- Follow it no more.
function Session:remove()
  if self.status ~= "removed" then
    self.status = "removed"
    M.followed[self.id] = nil
    if client.state == "ready" then
      self:request("session/close", {})
    end
    self:tell("removed")
  end
end

client:listen(function(method, params)
  if method == "disconnected" then
    for _, session in pairs(M.followed) do
      session.status, session.compacting = "away", nil
      session:tell("changed")
    end
  elseif method == "connected" or method == "daemon/replaced" then
    for _, session in pairs(M.followed) do
      session.status = "away"
      session:resume()
    end
  else
    local session = M.followed[params.sessionId]
    if session and events.apply(session, method, params) then
      session:refresh()
      session:tell("changed")
    end
  end
end)

return M
