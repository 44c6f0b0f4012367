--- The statusline component.

local sessions = require("pi_daemon.session")
local text = require("pi_daemon.text")

local M = {
  -- The session that was shown or followed last.
  last = nil,
}

--- The session of the current buffer's panel, else the one that was looked at last.
function M.session()
  local panel = require("pi_daemon.panel").of()
  local session = panel and panel.session or M.last
  return session and sessions.followed[session.id] == session and session or nil
end

--- "Fix the login [works] 34.1k 17% compact!", or "" while no session is followed. Fit for 'statusline'.
function M.line()
  local session = M.session()
  if not session then
    return ""
  end
  local parts = { text.shortened(text.line(session:title()), 30) }
  local function add(part)
    parts[#parts + 1] = part
  end
  if session.label then
    add("[" .. text.shortened(text.line(session.label), 20) .. "]")
  end
  if session.tokens then
    add(text.short_number(session.tokens))
  end
  if session.share then
    add(("%d%%"):format(math.floor(session.share * 100 + 0.5)))
  end
  if session.compacting then
    add("compacting")
  elseif session.due then
    add("compact!")
  end
  if session.status == "away" then
    add("connecting")
  elseif session.status ~= "live" then
    add(session.status)
  end
  return text.bar(table.concat(parts, " "))
end

return M
