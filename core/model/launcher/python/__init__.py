"""Python launchers: the syntax tree evaluated as far as it is plain, without running anything."""
