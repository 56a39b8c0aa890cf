"""Needs become held bytes, flights or GETs; generators are driven; columns load once."""
