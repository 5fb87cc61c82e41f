-- The server's configuration for `vim.lsp.enable('nemo_resumable')`, in Neovim 0.11 and later.
-- `vim.lsp.config('nemo_resumable', {...})` changes parts of it.
local nemo = require('nemo_resumable')

---@type vim.lsp.Config
return {
  cmd = { 'nemo-resumable', 'lsp' },
  filetypes = { 'yaml', 'sh', 'bash', 'python' },
  -- The server is started for files that look like ours only; it judges what is in them.
  root_dir = function(bufnr, on_dir)
    if nemo.looks_like_ours(bufnr) then
      on_dir(nemo.root(bufnr))
    end
  end,
  settings = {
    -- The keys of `.nemo-resumable.toml`, such as `seed` or `["indexes-root"]`.
    ['nemo-resumable'] = vim.empty_dict(),
  },
  commands = nemo.client_commands,
}
