"""`serve`: a thin edge over `Memory` for programs that speak HTTP. Needs the extra `http`; nothing else imports it."""
