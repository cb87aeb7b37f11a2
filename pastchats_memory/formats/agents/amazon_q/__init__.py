"""Amazon Q CLI, and Kiro CLI, which replaced it."""
