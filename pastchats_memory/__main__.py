"""`python -m pastchats_memory`."""

from pastchats_memory.cli import main

main()
