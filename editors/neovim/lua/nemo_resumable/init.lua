-- What the plugin does beyond the language server protocol: commands, their results, and which files are worth a server.
local M = {}

local NAME = 'nemo_resumable'
local MARKERS = { '.nemo-resumable.toml', '.git', 'pyproject.toml' }
local MOST_LINES = 4000
local WAIT_MS = 5000

-- A key of a config or blend at the beginning of a line, or after `{`, `,` or `-`.
local KEYS = {}
for _, key in ipairs({
  'train_ds', 'validation_ds', 'test_ds', 'exp_manager', 'input_cfg',
  'manifest_filepath', 'tarred_audio_filepaths', 'cuts_path', 'shar_path',
}) do
  KEYS[key] = true
end

---@param line string
local function is_of_yaml(line)
  for before, key in line:gmatch([[([^%w_]*)([%w_]+)["']?%s*:]]) do
    if KEYS[key] and (before:match([[^[%s"'-]*$]]) or before:match([=[[{,]%s*["']?$]=])) then
      return true
    end
  end
  return false
end

---@param line string
local function is_of_script(line)
  return line:match('%-%-config[-_]%a+') ~= nil
    or line:match('config_name%s*=') ~= nil
    or line:match('train_ds') ~= nil
    or line:match('exp_manager') ~= nil
    or line:match('nemo_run') ~= nil
end

--- Whether a buffer may concern us. The server is the judge; this only decides whether it is worth starting.
---@param bufnr integer
---@return boolean
function M.looks_like_ours(bufnr)
  local test = vim.bo[bufnr].filetype == 'yaml' and is_of_yaml or is_of_script
  for _, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, MOST_LINES, false)) do
    if test(line) then
      return true
    end
  end
  return false
end

--- The folder where training is taken to be started: that of the settings file, else the repository's.
---@param bufnr integer
---@return string
function M.root(bufnr)
  for _, marker in ipairs(MARKERS) do
    local found = vim.fs.root(bufnr, marker)
    if found then
      return found
    end
  end
  local name = vim.api.nvim_buf_get_name(bufnr)
  return name ~= '' and vim.fs.dirname(name) or vim.fn.getcwd()
end

--- The client of a buffer, or nil, which the user is told.
---@param bufnr? integer
---@return vim.lsp.Client?
function M.client(bufnr)
  local client = vim.lsp.get_clients({ name = NAME, bufnr = bufnr or 0 })[1]
  if not client then
    M.say('the server is not attached to this buffer; see :checkhealth ' .. NAME, vim.log.levels.WARN)
  end
  return client
end

---@param text string
---@param level? integer
function M.say(text, level)
  vim.notify('nemo-resumable: ' .. text, level or vim.log.levels.INFO)
end

--- Show a text of the server in a window of its own, which `q` closes.
---@param shown { title: string, language: string, text: string }
local function show(shown)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(shown.text, '\n', { plain = true }))
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].bufhidden = 'wipe'
  vim.cmd.split()
  vim.api.nvim_win_set_buf(0, buffer)
  pcall(vim.api.nvim_buf_set_name, buffer, 'nemo-resumable://' .. shown.title)
  vim.bo[buffer].filetype = shown.language
  vim.keymap.set('n', 'q', vim.cmd.close, { buffer = buffer, desc = 'Close' })
end

---@param answer any
local function take(answer)
  if type(answer) ~= 'table' then
    return
  end
  if answer.text and answer.title then
    show(answer)
  elseif answer.report then
    M.say(('wrote %d files; the config will be %s'):format(#answer.files, answer.readiness))
    vim.cmd.split(vim.fn.fnameescape(vim.uri_to_fname(answer.report)))
  end
end

--- Run a command of the server and show what it answers.
---@param client vim.lsp.Client
---@param bufnr integer
---@param command string
---@param arguments any[]
local function run(client, bufnr, command, arguments)
  client:request('workspace/executeCommand', { command = command, arguments = arguments }, function(failed, answer)
    if failed then
      M.say(failed.message, vim.log.levels.ERROR)
    else
      take(answer)
    end
  end, bufnr)
end

--- Commands that code lenses and code actions carry: they are run here, so that their answers are shown.
---@type table<string, fun(command: lsp.Command, context: table)>
M.client_commands = {}
for _, name in ipairs({ 'writeArtifacts', 'showEffectiveConfig', 'showInspected', 'explainRule', 'diagnoseLogs' }) do
  M.client_commands['nemo-resumable.' .. name] = function(command, context)
    local client = vim.lsp.get_client_by_id(context.client_id)
    if client then
      run(client, context.bufnr or 0, command.command, command.arguments or {})
    end
  end
end

--- Apply the code action of a kind to the whole buffer.
---@param kind string
local function apply(kind)
  vim.lsp.buf.code_action({
    apply = true,
    context = { only = { kind }, diagnostics = {} },
    range = { start = { 1, 0 }, ['end'] = { vim.api.nvim_buf_line_count(0), 0 } },
    filter = function(action)
      return vim.startswith(action.kind or '', kind)
    end,
  })
end

--- Fix everything in a buffer that is safe to fix, and wait for it. Whether anything was changed.
---@param bufnr? integer
---@return boolean
function M.fix(bufnr)
  bufnr = bufnr or vim.api.nvim_get_current_buf()
  local client = vim.lsp.get_clients({ name = NAME, bufnr = bufnr })[1]
  if not client then
    return false
  end
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(bufnr) },
    range = {
      start = { line = 0, character = 0 },
      ['end'] = { line = vim.api.nvim_buf_line_count(bufnr), character = 0 },
    },
    context = { diagnostics = {}, only = { 'source.fixAll.nemo-resumable' } },
  }
  local offered = client:request_sync('textDocument/codeAction', params, WAIT_MS, bufnr)
  local action = offered and offered.result and offered.result[1]
  if action and not action.edit then
    local resolved = client:request_sync('codeAction/resolve', action, WAIT_MS, bufnr)
    action = resolved and resolved.result
  end
  if not (action and action.edit) then
    return false
  end
  vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
  return true
end

--- The code of the finding under the cursor.
---@return string?
local function code_here()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, diagnostic in ipairs(vim.diagnostic.get(0, { lnum = line })) do
    if diagnostic.source == 'nemo-resumable' and diagnostic.code then
      return tostring(diagnostic.code)
    end
  end
end

---@param command string
---@param more? fun(client: vim.lsp.Client): any
local function on_config(command, more)
  return function()
    local client = M.client()
    if client then
      local arguments = { vim.uri_from_bufnr(0) }
      if more then
        table.insert(arguments, more(client))
      end
      run(client, vim.api.nvim_get_current_buf(), 'nemo-resumable.' .. command, arguments)
    end
  end
end

--- `:NemoResumable …`: what each word does.
---@type table<string, fun(arguments: string[])>
M.commands = {
  fix = function()
    apply('source.fixAll.nemo-resumable')
  end,
  migrate = function()
    apply('refactor.rewrite.nemo-resumable')
  end,
  report = on_config('writeArtifacts'),
  inspected = on_config('showInspected'),
  effective = on_config('showEffectiveConfig', function(client)
    return { position = vim.lsp.util.make_position_params(0, client.offset_encoding).position }
  end),
  explain = function(arguments)
    local client, code = M.client(), arguments[1] or code_here()
    if client and not code then
      M.say('there is no finding on this line; name a rule: :NemoResumable explain NR110', vim.log.levels.WARN)
    elseif client then
      run(client, vim.api.nvim_get_current_buf(), 'nemo-resumable.explainRule', { code })
    end
  end,
  diagnose = function(arguments)
    local client, bufnr = M.client(), vim.api.nvim_get_current_buf()
    if not arguments[1] then
      M.say('name the logs of the run: :NemoResumable diagnose slurm-*.out', vim.log.levels.WARN)
      return
    end
    local uris = {}
    for _, argument in ipairs(arguments) do
      for _, path in ipairs(vim.fn.expand(argument, false, true)) do
        table.insert(uris, vim.uri_from_fname(vim.fn.fnamemodify(path, ':p')))
      end
    end
    if client then
      local config = vim.bo[bufnr].filetype == 'yaml' and vim.uri_from_bufnr(bufnr) or nil
      run(client, bufnr, 'nemo-resumable.diagnoseLogs', { uris, config })
    end
  end,
  start = function()
    vim.lsp.start(vim.tbl_extend('force', vim.lsp.config[NAME], { root_dir = M.root(0) }), { bufnr = 0 })
  end,
  restart = function()
    local client = M.client()
    if client then
      run(client, vim.api.nvim_get_current_buf(), 'nemo-resumable.restart', {})
    end
  end,
  log = function()
    vim.cmd.tabnew(vim.fn.fnameescape(vim.lsp.log.get_filename()))
  end,
}

--- For a status line: the worst readiness of the configs that the buffer is or is read by; empty where it is none of ours.
--- It is asked for in the background, so it may be that of a moment ago.
---@param bufnr? integer
---@return string
function M.status(bufnr)
  bufnr = bufnr or vim.api.nvim_get_current_buf()
  return vim.b[bufnr].nemo_resumable_status or ''
end

local ORDER = { ['not-launch-ready'] = 1, unverified = 2, ['launch-ready-with-exceptions'] = 3, ['launch-ready'] = 4 }

--- Ask anew for the status of a buffer.
---@param bufnr integer
function M.refresh_status(bufnr)
  local client = vim.lsp.get_clients({ name = NAME, bufnr = bufnr })[1]
  if not client then
    return
  end
  local request = { command = 'nemo-resumable.status', arguments = { vim.uri_from_bufnr(bufnr) } }
  client:request('workspace/executeCommand', request, function(failed, answer)
    if failed or not vim.api.nvim_buf_is_valid(bufnr) then
      return
    end
    local worst
    for _, config in ipairs(answer.configs) do
      if not worst or (ORDER[config.readiness] or 9) < (ORDER[worst] or 9) then
        worst = config.readiness
      end
    end
    vim.b[bufnr].nemo_resumable_status = worst or ''
  end, bufnr)
end

return M
