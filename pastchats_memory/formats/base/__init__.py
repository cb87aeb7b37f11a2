"""What formats share: sources, sessions, tools, checkpoints."""
