--- Reads what a panel and a statusline show of a session: its tree, its size, and whether a compaction is due.

local config = require("pi_daemon.config")

local M = {}

--- Attempts to read all pages of one revision: the daemon keeps those of the latest reader alone.
local READINGS = 5

--- All nodes of the tree, as callback(problem, { nodes, leafId, revision }).
local function tree(session, params, callback, reading)
  local nodes = {}
  local function page(cursor)
    local asked = vim.tbl_extend("force", params, { cursor = cursor })
    session:request("session/tree", asked, function(problem, found)
      if problem then
        if problem.data and problem.data.path == "cursor" and (reading or 1) < READINGS then
          return tree(session, params, callback, (reading or 1) + 1)
        end
        return callback(problem)
      end
      vim.list_extend(nodes, found.nodes)
      if found.nextCursor then
        return page(found.nextCursor)
      end
      callback(nil, { nodes = nodes, leafId = found.leafId, revision = found.revision })
    end)
  end
  page(nil)
end

--- The label that is nearest above the leaf, or its own.
local function branch_label(nodes)
  for place = #nodes, 1, -1 do
    if nodes[place].onPath and nodes[place].label then
      return nodes[place].label
    end
  end
end

--- Filters that may hide an entry which bears a label.
local HIDES_LABELS = { default = true, noTools = true, userOnly = true }

--- `callback(problem, found)`; found has the members of a session that are new.
function M.read(session, callback)
  local found, left, failed = {}, 1, false

  local function done(problem)
    left = left - 1
    if problem and not failed then
      failed = true
      callback(problem)
    elseif left == 0 and not failed then
      callback(nil, found)
    end
  end

  local fold = config.current.fold and not session.whole and session.entry_count > config.current.fold_by_daemon
  tree(session, { filter = session.filter, fold = fold }, function(problem, result)
    if problem then
      return done(problem)
    end
    found.nodes, found.tree_leaf, found.folded_by_daemon = result.nodes, result.leafId, fold
    found.shown_filter = session.filter
    found.label = branch_label(result.nodes) or false
    if not HIDES_LABELS[session.filter] then
      return done()
    end
    tree(session, { filter = "labeledOnly" }, function(trouble, labelled)
      found.label = labelled and branch_label(labelled.nodes) or false
      done(trouble)
    end)
  end)
  left = left + 1
  session:request("session/stats", {}, function(problem, stats)
    if problem then
      return done(problem)
    end
    found.tokens, found.entry_count = stats.contextTokens, stats.entryCount
    local window = stats.contextWindow or session:window()
    found.share = window and stats.contextTokens / window or false
    found.due = false
    if not window or found.share < 0.5 then
      return done()
    end
    -- Only the daemon knows what it keeps free for the answer.
    session:request("session/compactionPlan", { contextWindow = window }, function(_, plan)
      found.due = plan ~= nil and plan.shouldCompact == true
      done()
    end)
  end)
end

return M
