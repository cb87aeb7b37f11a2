"""Read sessions of Amazon Q CLI, and of Kiro CLI, which replaced it."""
