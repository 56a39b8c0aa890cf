"""XXH64, the hash of Parquet's bloom filters: for the few values that a read probes."""

from __future__ import annotations

import struct

_WORD = (1 << 64) - 1
_P1 = 0x9E3779B185EBCA87
_P2 = 0xC2B2AE3D27D4EB4F
_P3 = 0x165667B19E3779F9
_P4 = 0x85EBCA77C2B2AE63
_P5 = 0x27D4EB2F165667C5
_STRIPE = struct.Struct("<4Q")


def xxh64(data: bytes, seed: int = 0) -> int:
    """The 64-bit hash of ``data``."""
    stop = len(data) & ~31
    value = _stripes(data[:stop], seed) if stop else (seed + _P5) & _WORD
    return _avalanche(_tail(data[stop:], (value + len(data)) & _WORD))


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> 64 - by) & _WORD


def _round(lane: int, word: int) -> int:
    return _rotated((lane + word * _P2) & _WORD, 31) * _P1 & _WORD


def _stripes(data: bytes, seed: int) -> int:
    """The part of whole stripes, 32 bytes each: four lanes side by side, merged at the end."""
    lanes = [(seed + start) & _WORD for start in (_P1 + _P2, _P2, 0, -_P1)]
    for words in _STRIPE.iter_unpack(data):
        lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
    value = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _WORD
    for lane in lanes:
        value = ((value ^ _round(0, lane)) * _P1 + _P4) & _WORD
    return value


def _tail(data: bytes, value: int) -> int:
    """The part of the last 0 to 31 bytes: words of 8, one of 4, then single bytes."""
    at = 0
    while at + 8 <= len(data):
        word = int.from_bytes(data[at : at + 8], "little")
        value = (_rotated(value ^ _round(0, word), 27) * _P1 + _P4) & _WORD
        at += 8
    if at + 4 <= len(data):
        word = int.from_bytes(data[at : at + 4], "little")
        value = (_rotated(value ^ word * _P1 & _WORD, 23) * _P2 + _P3) & _WORD
        at += 4
    for byte in data[at:]:
        value = _rotated(value ^ byte * _P5 & _WORD, 11) * _P1 & _WORD
    return value


def _avalanche(value: int) -> int:
    value = (value ^ value >> 33) * _P2 & _WORD
    value = (value ^ value >> 29) * _P3 & _WORD
    return value ^ value >> 32
