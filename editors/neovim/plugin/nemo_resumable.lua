-- `:NemoResumable`, the status of what is open, and files that become ours while they are written.
if vim.g.loaded_nemo_resumable or vim.fn.has('nvim-0.11') == 0 then
  return
end
vim.g.loaded_nemo_resumable = true

vim.api.nvim_create_user_command('NemoResumable', function(given)
  local commands = require('nemo_resumable').commands
  local word = given.fargs[1]
  if not commands[word] then
    require('nemo_resumable').say(('there is no `%s`; see :help :NemoResumable'):format(word), vim.log.levels.ERROR)
    return
  end
  commands[word](vim.list_slice(given.fargs, 2))
end, {
  nargs = '+',
  desc = 'Check and migrate NeMo training configs',
  complete = function(lead, line)
    if #vim.split(line, '%s+', { trimempty = true }) > (lead == '' and 1 or 2) then
      return {}
    end
    local words = vim.tbl_keys(require('nemo_resumable').commands)
    table.sort(words)
    return vim.tbl_filter(function(word)
      return vim.startswith(word, lead)
    end, words)
  end,
})

local group = vim.api.nvim_create_augroup('nemo_resumable', {})
vim.api.nvim_create_autocmd({ 'DiagnosticChanged', 'LspAttach' }, {
  group = group,
  callback = function(event)
    if vim.api.nvim_buf_is_loaded(event.buf) then
      require('nemo_resumable').refresh_status(event.buf)
    end
  end,
})
-- A config that is begun from nothing looks like one only after a while.
vim.api.nvim_create_autocmd('BufWritePost', {
  group = group,
  pattern = { '*.yaml', '*.yml' },
  callback = function(event)
    local nemo = require('nemo_resumable')
    local is_enabled = vim.lsp.is_enabled and vim.lsp.is_enabled('nemo_resumable')
    local is_attached = next(vim.lsp.get_clients({ name = 'nemo_resumable', bufnr = event.buf })) ~= nil
    if is_enabled and not is_attached and nemo.looks_like_ours(event.buf) then
      nemo.commands.start()
    end
  end,
})
