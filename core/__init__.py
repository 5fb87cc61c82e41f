"""The analyzer behind both frontends: text, syntax, model, rules, fixes and artifacts."""
