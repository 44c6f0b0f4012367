--- A tree as rows. The main line of each part stays where it is, and its side branches are drawn under the entry they
--- leave from, one step to the right: a long session is flat. Pure: nothing of Neovim's state is read.

local M = {}

--- Entries that a folded stretch shows of its end, which answers what the user said, and how many it must hide to be
--- worth its line.
local TAIL, WORTH = 1, 2

--- By these one finds one's way, so they are never folded.
local LANDMARKS = { user = true, compaction = true, branch_summary = true }

local function related(nodes)
  local children, roots, places = {}, {}, {}
  for place, node in ipairs(nodes) do
    children[place] = {}
    local parent = node.parentId and places[node.parentId]
    table.insert(parent and children[parent] or roots, place)
    places[node.id] = place
  end
  local sizes = {}
  for place = #nodes, 1, -1 do
    local size = 1
    for _, child in ipairs(children[place]) do
      size = size + sizes[child]
    end
    sizes[place] = size
  end
  return children, roots, sizes
end

--- The child that goes on straight: that of the active path, elsewhere the largest.
local function main_child(nodes, sizes, children)
  local best
  for _, child in ipairs(children) do
    local path, held = nodes[child].onPath, best and nodes[best].onPath
    if not best or (path and not held) or (path == held and sizes[child] >= sizes[best]) then
      best = child
    end
  end
  return best
end

--- The entry that is drawn as the leaf: where the filter hides that, its nearest ancestor that shows. nil: none shows.
function M.shown_leaf(nodes, leaf_id)
  local last
  for _, node in ipairs(nodes) do
    if node.id == leaf_id then
      return leaf_id
    end
    last = node.onPath and node.id or last
  end
  return last
end

local function all_rows(nodes, leaf)
  local children, roots, sizes = related(nodes)
  local is_root = {}
  local rows, stack = {}, {}
  for place = #roots, 1, -1 do
    is_root[roots[place]] = true
    table.insert(stack, { roots[place], 0, false })
  end
  while #stack > 0 do
    local place, depth, side = unpack(table.remove(stack))
    local node, below = nodes[place], children[place]
    if (node.run or 1) > 1 then
      rows[#rows + 1] =
        { kind = "fold", id = "fold:" .. node.id, count = node.run - 1, depth = depth, side = side, by_daemon = true }
      side = false
    end
    rows[#rows + 1] = {
      kind = "entry",
      id = node.id,
      node = node,
      depth = depth,
      side = side,
      plain = #below == 1
        and not side
        and not is_root[place]
        and not node.label
        and node.id ~= leaf
        and not LANDMARKS[node.role or node.type],
    }
    if #below > 0 then
      local main = main_child(nodes, sizes, below)
      table.insert(stack, { main, depth, false })
      for at = #below, 1, -1 do
        if below[at] ~= main then
          table.insert(stack, { below[at], depth + 1, true })
        end
      end
    end
  end
  return rows
end

--- "6 tool, 5 model": what the rows are, the most frequent first.
local function counted(rows)
  local counts, kinds = {}, {}
  for _, row in ipairs(rows) do
    local kind = M.kind(row.node)
    if not counts[kind] then
      kinds[#kinds + 1] = kind
    end
    counts[kind] = (counts[kind] or 0) + 1
  end
  table.sort(kinds, function(a, b)
    return counts[a] > counts[b] or (counts[a] == counts[b] and a < b)
  end)
  return table.concat(
    vim.tbl_map(function(kind)
      return counts[kind] .. " " .. kind
    end, kinds),
    ", "
  )
end

--- Put the rows of a straight stretch, folded as far as it goes, at the end of `result`.
local function fold(result, stretch, opened, pinned)
  local open = false
  for _, row in ipairs(stretch) do
    open = open or opened[row.id]
  end
  local hidden = {}

  local function settle()
    if #hidden >= WORTH then
      local ids = vim.tbl_map(function(row)
        return row.id
      end, hidden)
      if not open then
        hidden =
          { { kind = "fold", id = "fold:" .. ids[1], what = counted(hidden), depth = hidden[1].depth, ids = ids } }
        hidden[1].count = #ids
      else
        for _, row in ipairs(hidden) do
          row.opened = ids
        end
      end
    end
    vim.list_extend(result, hidden)
    hidden = {}
  end

  for at, row in ipairs(stretch) do
    if at > #stretch - TAIL or (pinned[row.id] and not open) then
      settle()
      result[#result + 1] = row
    else
      hidden[#hidden + 1] = row
    end
  end
  settle()
end

--- Rows of `nodes`, as `session/tree` gives them. `options.fold`: hide the middle of straight stretches, but nothing of
--- those that hold an id of the set `options.opened`, and no entry of the set `options.pinned`.
function M.rows(nodes, leaf_id, options)
  local rows = all_rows(nodes, M.shown_leaf(nodes, leaf_id))
  if not options.fold then
    return rows
  end
  local result, stretch = {}, {}
  for _, row in ipairs(rows) do
    if row.plain then
      stretch[#stretch + 1] = row
    else
      fold(result, stretch, options.opened, options.pinned)
      stretch = {}
      result[#result + 1] = row
    end
  end
  fold(result, stretch, options.opened, options.pinned)
  return result
end

local KINDS = {
  user = "user",
  assistant = "model",
  toolResult = "tool",
  bashExecution = "shell",
  custom_message = "note",
  branch_summary = "summary",
  branchSummary = "summary",
  compactionSummary = "summary",
  context_edit = "edit",
  session_info = "name",
  model_change = "model=",
  thinking_level_change = "level=",
}

--- What an entry is called, in a word.
function M.kind(node)
  local name = node.role or node.type
  return KINDS[name] or name
end

return M
