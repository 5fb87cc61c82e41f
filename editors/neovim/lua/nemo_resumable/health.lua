-- `:checkhealth nemo_resumable`
local M = {}

local MINIMUM = '0.1.0'

---@param cmd string[]
---@return string? version, string? trouble
local function version_of(cmd)
  local words = vim.list_slice(cmd, 1, #cmd - 1) -- all but `lsp`
  local ok, ended = pcall(function()
    return vim.system(vim.list_extend(words, { '--version' }), { text = true }):wait(15000)
  end)
  if not ok then
    return nil, tostring(ended)
  end
  local version = (ended.stdout or ''):match('nemo%-resumable%s+(%d[%w%.]*)')
  return version, not version and vim.trim((ended.stderr or '') .. (ended.stdout or '')) or nil
end

function M.check()
  vim.health.start('nemo_resumable')
  if vim.fn.has('nvim-0.11') == 0 then
    vim.health.error('Neovim 0.11 or newer is needed: `vim.lsp.config` is not there before')
    return
  end
  vim.health.ok('Neovim ' .. tostring(vim.version()))

  local config = vim.lsp.config.nemo_resumable
  if not config then
    vim.health.error('there is no `lsp/nemo_resumable.lua` on the runtime path', 'add the folder of the plugin to it')
    return
  end
  local cmd = config.cmd
  if type(cmd) == 'table' then
    local version, trouble = version_of(cmd)
    if not version then
      vim.health.error(('`%s` does not answer: %s'):format(table.concat(cmd, ' '), trouble), {
        'install it from a clone: `pip install PATH`',
        "or say where it is: `vim.lsp.config('nemo_resumable', { cmd = { '/path/to/nemo-resumable', 'lsp' } })`",
      })
      return
    elseif vim.version.lt(vim.version.parse(version, { strict = false }), MINIMUM) then
      vim.health.error(('nemo-resumable is version %s; %s or newer is needed'):format(version, MINIMUM))
      return
    end
    vim.health.ok(('nemo-resumable %s (%s)'):format(version, vim.fn.exepath(cmd[1])))
  end

  if vim.lsp.is_enabled and vim.lsp.is_enabled('nemo_resumable') or next(vim.lsp.get_clients({ name = 'nemo_resumable' })) then
    vim.health.ok('the server is enabled')
  elseif vim.lsp.is_enabled then
    vim.health.warn('the server is not enabled', "`vim.lsp.enable('nemo_resumable')`")
  end
  for _, client in ipairs(vim.lsp.get_clients({ name = 'nemo_resumable' })) do
    vim.health.info(('client %d in %s, %d buffers'):format(client.id, client.root_dir or '?', vim.tbl_count(client.attached_buffers)))
  end
end

return M
