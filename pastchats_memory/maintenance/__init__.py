"""Look after a memory: forget, redact stored rows again, check its health."""
