"""Shell launchers: a parse tree walked without running anything."""
