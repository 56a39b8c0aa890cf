"""Decoders of bytes: pure, numpy first; every compiled kernel has a numpy or Arrow twin."""
