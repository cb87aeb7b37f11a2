"""Turn a question or a prompt into a block of earlier episodes: `pipeline` leads through the modules."""
