"""Doris segments; :mod:`rangeio.formats.doris.format` holds FORMAT."""
