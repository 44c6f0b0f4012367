--- What a notification changes at once in what is known of a session; the tree is read again after it.

local notify = require("pi_daemon.notify")

local M = {}

local APPLIED = {
  ["session/appended"] = function(session, params)
    session.entry_count = (session.entry_count or 0) + #params.entries
  end,
  ["session/leafChanged"] = function() end,
  ["session/labelChanged"] = function() end,
  ["session/renamed"] = function(session, params)
    session.name = params.name
  end,
  ["session/compacted"] = function(session, params)
    session.tokens = params.tokensAfter or session.tokens
  end,
  ["session/compaction"] = function(session, params)
    session.compacting = params.status == "started" and params.compactionId or nil
  end,
  ["session/replaced"] = function(session, params)
    session.status, session.problem = "live", nil
    notify.warn(("%s was rewritten by another program (%s) and is read anew."):format(session:title(), params.reason))
  end,
  ["session/damaged"] = function(session, params)
    session.damage = params.damage
    local lost = params.lost and #params.lost > 0
    local what = lost and ("%d acknowledged entries are gone from its file"):format(#params.lost)
      or "its file is damaged"
    notify.warn(("%s: %s. `pi-daemon check` names each line."):format(session:title(), what))
  end,
  ["session/failed"] = function(session, params)
    session.status = "failed"
    session.problem = { reason = params.reason, message = "the session takes no more entries" }
  end,
  ["session/deleted"] = function(session)
    session.status = "deleted"
  end,
  ["session/resync"] = function(session)
    session:resume()
  end,
}

--- Whether there is something new to be read.
function M.apply(session, method, params)
  local apply = APPLIED[method]
  if not apply then
    return false
  end
  apply(session, params)
  if method == "session/resync" then
    return false
  end
  session.instance, session.revision = params.instanceId, params.revision
  return session.status == "live"
end

return M
