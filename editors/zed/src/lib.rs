//! Tells Zed how the language server is started: by the settings, else by what is on PATH in the project.

use zed_extension_api::{
    self as zed, serde_json::Value, settings::LspSettings, Command, LanguageServerId, Result,
    Worktree,
};

const SERVER: &str = "nemo-resumable";

struct NemoResumable;

impl zed::Extension for NemoResumable {
    fn new() -> Self {
        Self
    }

    fn language_server_command(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Command> {
        let binary = LspSettings::for_worktree(SERVER, worktree)
            .ok()
            .and_then(|settings| settings.binary);
        let (path, arguments) =
            binary.map_or((None, None), |binary| (binary.path, binary.arguments));
        let command = path.or_else(|| worktree.which(SERVER)).ok_or_else(|| {
            format!(
                "`{SERVER}` is not on PATH: install it with pip, or set lsp.{SERVER}.binary.path"
            )
        })?;
        Ok(Command {
            command,
            args: arguments.unwrap_or_else(|| vec!["lsp".to_owned()]),
            env: worktree.shell_env(),
        })
    }

    fn language_server_workspace_configuration(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        let settings = LspSettings::for_worktree(SERVER, worktree)
            .ok()
            .and_then(|settings| settings.settings);
        Ok(settings.map(|settings| zed::serde_json::json!({ SERVER: settings })))
    }
}

zed::register_extension!(NemoResumable);
