"""Turn one question into ranked hits: `pipeline` leads through the modules."""
