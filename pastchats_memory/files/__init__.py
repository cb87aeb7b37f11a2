"""Read and write bytes on disk."""
