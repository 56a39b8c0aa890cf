"""Ranged reads of one endpoint each; nothing here retries, caches or validates."""
