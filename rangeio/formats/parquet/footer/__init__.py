"""The footer: found in its bytes, whatever wrote it."""
