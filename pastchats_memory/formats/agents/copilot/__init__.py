"""GitHub Copilot: the command line and VS Code."""
