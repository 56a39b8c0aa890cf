/* Thrift's compact protocol skipped without being decoded, and column chunks of like structure
 * skipped by comparing them with what was parsed before.
 *
 * A parsed chunk is kept as a chain of segments, cut where something of variable size lies. A segment
 * holds a value and a mask for each of its bytes: 0xFF for a byte that is structure (a field's or
 * list's head, a fixed size, the stop byte), 0x80 for a byte of a number, of which only the
 * continuation bit is structure, 0 for payload. Where the next bytes agree under the mask, parsing
 * them would take the same steps, so it need not be done. This is a proof, not a guess: the state
 * of the parser after a segment follows from the segments before it, and they form a tree.
 *
 * All functions take the bytes `b`, a position `p` and the count `n`, and return the position
 * after what they skipped, or -1.
 */
#ifndef RANGEIO_FOOTER_H
#define RANGEIO_FOOTER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define RANGEIO_DEPTH 24
#define RANGEIO_SEGMENT 256                      /* bytes of a segment, at most */
#define RANGEIO_SEGMENTS 1024                    /* segments, before all are forgotten */
#define RANGEIO_PARTS 24                         /* segments of a chunk that is compared whole */
#define RANGEIO_GUESSES 8                        /* segments of a leaf that are remembered */
#define RANGEIO_SIBLINGS 16                      /* segments that are tried after another */
#define RANGEIO_SHAPES 16                        /* kinds of schema elements that are remembered */
#define RANGEIO_REACH (RANGEIO_SEGMENT + 32)     /* bytes that a comparison may load */

/* ---- the generic skip ------------------------------------------------------------------------ */

static inline int64_t rangeio_skip_number(const uint8_t *b, int64_t p, int64_t n) {
    int64_t stop = n - p > 10 ? p + 10 : n;
    while (p < stop)
        if (!(b[p++] & 0x80))
            return p;
    return -1;
}

static inline int64_t rangeio_number(const uint8_t *b, int64_t p, int64_t n, uint64_t *out) {
    uint64_t value = 0;
    int shift = 0;
    while (p < n) {
        uint8_t byte = b[p++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out = value;
            return p;
        }
        shift += 7;
        if (shift > 63)
            return -1;
    }
    return -1;
}

static inline int64_t rangeio_signed(uint64_t value) {
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* A size or count, which may not be above the bytes that are left. */
static inline int64_t rangeio_size(const uint8_t *b, int64_t p, int64_t n, int64_t *out) {
    uint64_t value;
    if (p < n && !(b[p] & 0x80)) {
        *out = b[p];
        return *out > n - p - 1 ? -1 : p + 1;
    }
    int64_t q = rangeio_number(b, p, n, &value);
    /* The tenth byte has room for one bit more: what it cuts off is too much as well. */
    if (q < 0 || (q - p == 10 && b[q - 1] > 1) || value > (uint64_t)(n - q))
        return -1;
    *out = (int64_t)value;
    return q;
}

static inline int64_t rangeio_skip_binary(const uint8_t *b, int64_t p, int64_t n) {
    int64_t size;
    p = rangeio_size(b, p, n, &size);
    return p < 0 ? -1 : p + size;
}

static inline int64_t rangeio_list(const uint8_t *b, int64_t p, int64_t n, int64_t *count,
                                   int *element) {
    if (p >= n)
        return -1;
    *element = b[p] & 15;
    *count = b[p++] >> 4;
    if (*count == 15)
        return rangeio_size(b, p, n, count);
    return *count > n - p ? -1 : p;
}

static int64_t rangeio_skip(const uint8_t *b, int64_t p, int64_t n, int type, int depth, int inside);

static int64_t rangeio_skip_struct(const uint8_t *b, int64_t p, int64_t n, int depth) {
    if (depth > RANGEIO_DEPTH)
        return -1;
    for (;;) {
        if (p >= n)
            return -1;
        uint8_t head = b[p++];
        if (!head)
            return p;
        if (!(head >> 4) && (p = rangeio_skip_number(b, p, n)) < 0)
            return -1;
        if ((p = rangeio_skip(b, p, n, head & 15, depth + 1, 0)) < 0)
            return -1;
    }
}

static int64_t rangeio_skip_list(const uint8_t *b, int64_t p, int64_t n, int depth) {
    int64_t count;
    int element;
    if (depth > RANGEIO_DEPTH || (p = rangeio_list(b, p, n, &count, &element)) < 0)
        return -1;
    while (count--)
        if ((p = rangeio_skip(b, p, n, element, depth + 1, 1)) < 0)
            return -1;
    return p;
}

static int64_t rangeio_skip_map(const uint8_t *b, int64_t p, int64_t n, int depth) {
    int64_t count;
    if (depth > RANGEIO_DEPTH || (p = rangeio_size(b, p, n, &count)) < 0 || !count)
        return p < 0 || depth > RANGEIO_DEPTH ? -1 : p;
    if (p >= n)
        return -1;
    uint8_t types = b[p++];
    while (count--)
        if ((p = rangeio_skip(b, p, n, types >> 4, depth + 1, 1)) < 0 ||
            (p = rangeio_skip(b, p, n, types & 15, depth + 1, 1)) < 0)
            return -1;
    return p;
}

static int64_t rangeio_skip(const uint8_t *b, int64_t p, int64_t n, int type, int depth,
                            int inside) {
    switch (type) {
    case 1: case 2: return !inside ? p : p < n ? p + 1 : -1;
    case 3: return p < n ? p + 1 : -1;
    case 4: case 5: case 6: return rangeio_skip_number(b, p, n);
    case 7: return n - p >= 8 ? p + 8 : -1;
    case 8: return rangeio_skip_binary(b, p, n);
    case 9: case 10: return rangeio_skip_list(b, p, n, depth);
    case 11: return rangeio_skip_map(b, p, n, depth);
    case 12: return rangeio_skip_struct(b, p, n, depth);
    case 13: return n - p >= 16 ? p + 16 : -1;
    }
    return -1;
}

/* ---- segments -------------------------------------------------------------------------------- */

enum { RANGEIO_END, RANGEIO_STRINGS, RANGEIO_NUMBERS };   /* what follows a segment */

typedef struct {
    uint64_t value, mask;                        /* of the first bytes: most that differ do so here */
    int32_t size, compared;                      /* bytes, and those that are looked at for them */
    int32_t follows, count;                      /* count: of the strings or numbers that follow */
    int32_t parent, child, sibling;              /* -1: none; the last that matched comes first */
} rangeio_segment;

typedef struct {
    uint8_t value[RANGEIO_REACH], mask[RANGEIO_REACH];
} rangeio_body;                                  /* all bytes: apart, so that the rest stays near */

typedef struct {
    rangeio_segment *segments;
    rangeio_body *bodies;
    int32_t used;
    int64_t hits, misses, before, resting;       /* before: hits at the last look at them */
    rangeio_segment whole;                       /* a whole chunk, its strings' sizes included */
    rangeio_body all;                            /* its bytes */
    int64_t won, lost, waiting;                  /* of `whole`; waiting: chunks until it is tried */
    int running;                                 /* losses in a row */
} rangeio_templates;

/* Past the first bytes, one branch a segment is the fastest. */
static inline int rangeio_agrees(const rangeio_segment *s, const rangeio_body *body,
                                 const uint8_t *q) {
    uint64_t first;
    memcpy(&first, q, 8);
    if ((first ^ s->value) & s->mask)
        return 0;
    if (s->size <= 8)
        return 1;
    const uint8_t *stop = q + s->compared, *value = body->value, *mask = body->mask;
#if defined(__SSE2__)
    __m128i different = _mm_setzero_si128(), other = different;
    do {                                         /* two at a time: they need not wait */
        __m128i a = _mm_xor_si128(_mm_loadu_si128((const __m128i *)q),
                                  _mm_loadu_si128((const __m128i *)value));
        __m128i b = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(q + 16)),
                                  _mm_loadu_si128((const __m128i *)(value + 16)));
        a = _mm_and_si128(a, _mm_loadu_si128((const __m128i *)mask));
        b = _mm_and_si128(b, _mm_loadu_si128((const __m128i *)(mask + 16)));
        different = _mm_or_si128(different, a);
        other = _mm_or_si128(other, b);
        q += 32, value += 32, mask += 32;
    } while (q < stop);
    different = _mm_cmpeq_epi8(_mm_or_si128(different, other), _mm_setzero_si128());
    return _mm_movemask_epi8(different) == 0xffff;
#else
    uint64_t different = 0;
    do {
        uint64_t w, v, m;
        memcpy(&w, q, 8);
        memcpy(&v, value, 8);
        memcpy(&m, mask, 8);
        different |= (w ^ v) & m;
        q += 8, value += 8, mask += 8;
    } while (q < stop);
    return !different;
#endif
}

/* The segment after `from` that agrees with the bytes at `q`; it becomes the first to be tried. */
static inline int32_t rangeio_next(rangeio_templates *t, int32_t from, const uint8_t *q) {
    int32_t before = -1, at = t->segments[from].child;
    for (int tried = 0; at >= 0 && tried < RANGEIO_SIBLINGS; tried++) {
        rangeio_segment *s = &t->segments[at];
        if (rangeio_agrees(s, &t->bodies[at], q)) {
            if (before >= 0) {
                t->segments[before].sibling = s->sibling;
                s->sibling = t->segments[from].child;
                t->segments[from].child = at;
            }
            return at;
        }
        before = at;
        at = s->sibling;
    }
    return -1;
}

static inline int64_t rangeio_skip_run(const uint8_t *b, int64_t p, int64_t n, int follows,
                                       int32_t count) {
    if (count == 1 && n - p > 128 && !(b[p] & 0x80) && follows == RANGEIO_STRINGS)
        return p + 1 + b[p];
    while (count-- && p >= 0)
        p = follows == RANGEIO_STRINGS ? rangeio_skip_binary(b, p, n) : rangeio_skip_number(b, p, n);
    return p;
}

static void rangeio_forget(rangeio_templates *t) {
    t->used = 1;
    t->segments[0].child = t->segments[0].sibling = -1;
}

/* ---- a chunk, parsed and remembered ---------------------------------------------------------- */

typedef struct {
    const uint8_t *b;
    int64_t n, start;                            /* start: of the segment that is being recorded */
    int recording, fixed;                        /* fixed: the values of statistics have one size */
    int32_t last;                                /* the segment before */
    rangeio_templates *templates;
    uint8_t mask[RANGEIO_REACH];
} rangeio_recorder;

enum { RANGEIO_OTHER, RANGEIO_CHUNK, RANGEIO_META, RANGEIO_VALUES };   /* which struct it is */

static inline void rangeio_mark(rangeio_recorder *r, int64_t p, int64_t stop, uint8_t mask) {
    if (stop - r->start > RANGEIO_SEGMENT)
        r->recording = 0;
    if (r->recording)
        memset(r->mask + (p - r->start), mask, (size_t)(stop - p));
}

/* End the segment before `stop`; the next one begins at `next`. */
static void rangeio_cut(rangeio_recorder *r, int64_t stop, int64_t next, int follows, int64_t count) {
    rangeio_templates *t = r->templates;
    int64_t size = stop - r->start;
    const uint8_t *q = r->b + r->start;
    if (size > RANGEIO_SEGMENT || r->n - r->start < RANGEIO_REACH || count > INT32_MAX)
        r->recording = 0;
    if (r->recording) {
        int32_t found = rangeio_next(t, r->last, q);
        if (found < 0 && t->used == RANGEIO_SEGMENTS) {
            rangeio_forget(t);                   /* what follows would hang on what is forgotten */
            r->recording = 0;
        } else if (found < 0) {
            found = t->used++;
            rangeio_segment *s = &t->segments[found];
            rangeio_body *body = &t->bodies[found];
            memset(body, 0, sizeof *body);
            memcpy(body->value, q, (size_t)size);
            memcpy(body->mask, r->mask, (size_t)size);
            memcpy(&s->value, body->value, 8);
            memcpy(&s->mask, body->mask, 8);
            s->size = (int32_t)size;
            s->compared = (int32_t)((size + 31) / 32 * 32);
            s->follows = follows;
            s->count = (int32_t)count;
            s->parent = r->last;
            s->child = -1;
            s->sibling = t->segments[r->last].child;
            t->segments[r->last].child = found;
        }
        r->last = found;
        memset(r->mask, 0, sizeof r->mask);
    }
    r->start = next;
}

static int64_t rangeio_record_struct(rangeio_recorder *r, int64_t p, int depth, int which);

static int64_t rangeio_record_binary(rangeio_recorder *r, int64_t p, int which) {
    int64_t size, at = rangeio_size(r->b, p, r->n, &size);
    if (at < 0)
        return -1;
    if (which == RANGEIO_VALUES && r->fixed && size <= 16)
        rangeio_mark(r, p, at, 0xff);
    else
        rangeio_cut(r, p, at + size, RANGEIO_STRINGS, 1);
    return at + size;
}

static int64_t rangeio_record(rangeio_recorder *r, int64_t p, int type, int depth, int inside,
                              int which, int64_t field);

static int64_t rangeio_record_list(rangeio_recorder *r, int64_t p, int depth) {
    int64_t count, at;
    int element;
    if (depth > RANGEIO_DEPTH || (at = rangeio_list(r->b, p, r->n, &count, &element)) < 0)
        return -1;
    rangeio_mark(r, p, at, 0xff);
    if (count && (element == 8 || element == 6)) {   /* of strings, or of counts */
        int follows = element == 8 ? RANGEIO_STRINGS : RANGEIO_NUMBERS;
        int64_t stop = at;
        for (int64_t i = 0; i < count && stop >= 0; i++)
            stop = element == 8 ? rangeio_skip_binary(r->b, stop, r->n)
                                : rangeio_skip_number(r->b, stop, r->n);
        if (stop >= 0)
            rangeio_cut(r, at, stop, follows, count);
        return stop;
    }
    for (p = at; count--;)
        if ((p = rangeio_record(r, p, element, depth + 1, 1, RANGEIO_OTHER, 0)) < 0)
            return -1;
    return p;
}

static int64_t rangeio_record_map(rangeio_recorder *r, int64_t p, int depth) {
    int64_t count, at;
    if (depth > RANGEIO_DEPTH || (at = rangeio_size(r->b, p, r->n, &count)) < 0)
        return -1;
    if (count && at >= r->n)
        return -1;
    rangeio_mark(r, p, at + (count > 0), 0xff);
    if (!count)
        return at;
    uint8_t types = r->b[at];
    for (p = at + 1; count--;)
        if ((p = rangeio_record(r, p, types >> 4, depth + 1, 1, RANGEIO_OTHER, 0)) < 0 ||
            (p = rangeio_record(r, p, types & 15, depth + 1, 1, RANGEIO_OTHER, 0)) < 0)
            return -1;
    return p;
}

static int64_t rangeio_record(rangeio_recorder *r, int64_t p, int type, int depth, int inside,
                              int which, int64_t field) {
    int64_t stop;
    switch (type) {
    case 4: case 5: case 6:
        if ((stop = rangeio_skip_number(r->b, p, r->n)) < 0)
            return -1;
        if (which == RANGEIO_META && field == 1) {   /* how values are written follows from it */
            rangeio_mark(r, p, stop, 0xff);
            r->fixed = r->b[p] != 12 && r->b[p] != 14;
        } else
            rangeio_mark(r, p, stop, 0x80);
        return stop;
    case 8: return rangeio_record_binary(r, p, which);
    case 9: case 10: return rangeio_record_list(r, p, depth);
    case 11: return rangeio_record_map(r, p, depth);
    case 12:
        which = which == RANGEIO_CHUNK && field == 3 ? RANGEIO_META
                : which == RANGEIO_META && field == 12 ? RANGEIO_VALUES : RANGEIO_OTHER;
        return rangeio_record_struct(r, p, depth, which);
    }
    return rangeio_skip(r->b, p, r->n, type, depth, inside);   /* its bytes are payload */
}

static int64_t rangeio_record_struct(rangeio_recorder *r, int64_t p, int depth, int which) {
    int64_t field = 0;
    if (depth > RANGEIO_DEPTH)
        return -1;
    for (;;) {
        if (p >= r->n)
            return -1;
        uint8_t head = r->b[p];
        int64_t at = p + 1;
        if (!head) {
            rangeio_mark(r, p, at, 0xff);
            return at;
        }
        if (head >> 4)
            field += head >> 4;
        else {
            uint64_t id;
            if ((at = rangeio_number(r->b, at, r->n, &id)) < 0)
                return -1;
            field = rangeio_signed(id) & 0xffff;     /* only 1, 3 and 12 matter, and they are exact */
            if (field != rangeio_signed(id))
                field = 1 << 20;
        }
        rangeio_mark(r, p, at, 0xff);
        if ((p = rangeio_record(r, at, head & 15, depth + 1, 0, which, field)) < 0)
            return -1;
    }
}

static int64_t rangeio_parse_chunk(rangeio_templates *t, const uint8_t *b, int64_t p, int64_t n,
                                   int depth) {
    rangeio_recorder r;
    r.b = b;
    r.n = n;
    r.start = p;
    r.recording = r.fixed = 1;
    r.last = 0;
    r.templates = t;
    memset(r.mask, 0, sizeof r.mask);
    p = rangeio_record_struct(&r, p, depth, RANGEIO_CHUNK);
    if (p >= 0)
        rangeio_cut(&r, p, p, RANGEIO_END, 0);
    return p;
}

/* Make `whole` of a chunk that segments agreed with: what is of variable size among its parts has
 * here the sizes that it has in this chunk. */
static void rangeio_fuse(rangeio_templates *t, const uint8_t *b, int64_t start, int64_t stop,
                         const int32_t *path, int parts) {
    rangeio_segment *w = &t->whole;
    rangeio_body *body = &t->all;
    int64_t p = start, at, size;
    w->size = 0;                                 /* of none, until it is done */
    if (stop - start > RANGEIO_SEGMENT)
        return;
    memset(body, 0, sizeof *body);
    for (int i = 0; i < parts; i++) {
        const rangeio_segment *s = &t->segments[path[i]];
        memcpy(body->mask + (p - start), t->bodies[path[i]].mask, (size_t)s->size);
        p += s->size;
        for (int32_t k = 0; s->follows != RANGEIO_END && k < s->count; k++) {
            int strings = s->follows == RANGEIO_STRINGS;
            at = strings ? rangeio_size(b, p, stop, &size) : rangeio_skip_number(b, p, stop);
            if (at < 0)
                return;
            memset(body->mask + (p - start), strings ? 0xff : 0x80, (size_t)(at - p));
            p = strings ? at + size : at;
        }
    }
    memcpy(body->value, b + start, (size_t)(stop - start));
    memcpy(&w->value, body->value, 8);
    memcpy(&w->mask, body->mask, 8);
    w->size = (int32_t)(stop - start);
    w->compared = (w->size + 31) / 32 * 32;
}

/* Whether chunks are to be compared as a whole first: where most of them have other sizes, that
 * is given up for a while. */
static inline int rangeio_fusing(rangeio_templates *t) {
    if (t->waiting > 0) {
        t->waiting--;
        return 0;
    }
    if (t->lost >= 64) {
        if (t->won < t->lost)
            t->waiting = 8192;
        t->won = t->lost = 0;
    }
    return 1;
}

/* The segment after `from` that agrees with the bytes at `q`: the one of the guess, or another. */
static inline int32_t rangeio_guessed(rangeio_templates *t, int32_t from, const uint8_t *q,
                                      int32_t guess) {
    /* Segments may have been forgotten and made anew: only a child of `from` proves anything. */
    if (guess && guess < t->used && t->segments[guess].parent == from &&
        rangeio_agrees(&t->segments[guess], &t->bodies[guess], q))
        return guess;
    return rangeio_next(t, from, q);
}

/* Skip one chunk, by comparing where that is possible: as a whole, or part by part. `guesses`: the
 * segments of the leaf's chunk in the row group before, or NULL. */
static int64_t rangeio_skip_chunk(rangeio_templates *t, const uint8_t *b, int64_t p, int64_t n,
                                  int depth, uint16_t *guesses) {
    int64_t start = p;
    int32_t at = 0, path[RANGEIO_PARTS];
    int parts = 0;
    if (t->resting > 0) {
        t->resting--;
        return rangeio_skip_struct(b, start, n, depth);
    }
    int fusing = rangeio_fusing(t);
    if (fusing && t->whole.size && n - p >= RANGEIO_REACH &&
        rangeio_agrees(&t->whole, &t->all, b + p)) {
        t->hits++;
        t->won++;
        t->running = 0;
        return p + t->whole.size;
    }
    while (n - p >= RANGEIO_REACH) {
        uint16_t *guess = guesses && parts < RANGEIO_GUESSES ? guesses + parts : NULL;
        at = guess ? rangeio_guessed(t, at, b + p, *guess) : rangeio_next(t, at, b + p);
        if (at < 0) {
            /* Too many misses cost more than the generic skip: leave it alone for a while. */
            if (!(++t->misses & 1023)) {
                if (t->hits - t->before < 2048)
                    t->resting = 8192;
                t->before = t->hits;
            }
            return rangeio_parse_chunk(t, b, start, n, depth);
        }
        if (guess)
            *guess = (uint16_t)at;
        const rangeio_segment *s = &t->segments[at];
        p += s->size;
        if (parts < RANGEIO_PARTS)
            path[parts++] = at;
        if (s->follows == RANGEIO_END) {
            t->hits++;
            if (fusing) {
                t->lost++;                       /* one that is not like the last says little */
                if (t->running++ % 8 == 3 && parts < RANGEIO_PARTS)
                    rangeio_fuse(t, b, start, p, path, parts);
            }
            return p;
        }
        if ((p = rangeio_skip_run(b, p, n, s->follows, s->count)) < 0)
            return -1;
    }
    return rangeio_skip_struct(b, start, n, depth);
}

/* ---- the parts of a footer ------------------------------------------------------------------- */

/* The head of a field: its id is added to *id, its type given. 0 for the stop byte. */
static inline int64_t rangeio_field(const uint8_t *b, int64_t p, int64_t n, int64_t *id, int *type) {
    if (p >= n)
        return -1;
    uint8_t head = b[p++];
    *type = head & 15;
    if (head >> 4) {
        *id += head >> 4;
        return *id > ((int64_t)1 << 31) ? -1 : p;
    }
    if (!head) {
        *type = -1;
        return p;
    }
    uint64_t value;
    if ((p = rangeio_number(b, p, n, &value)) < 0)
        return -1;
    *id = rangeio_signed(value);
    return *id > ((int64_t)1 << 31) || *id < -((int64_t)1 << 31) ? -1 : p;
}

static inline int64_t rangeio_integer(const uint8_t *b, int64_t p, int64_t n, int type, int64_t low,
                                      int64_t high, int64_t *out) {
    uint64_t value;
    if (type < 4 || type > 6 || (p = rangeio_number(b, p, n, &value)) < 0)
        return -1;
    *out = rangeio_signed(value);
    return *out < low || *out > high ? -1 : p;
}

/* One SchemaElement into a row of nine: see rangeio.formats.parquet.footer.layout. */
static int64_t rangeio_element(const uint8_t *b, int64_t p, int64_t n, int32_t *out) {
    int64_t id = 0, value, size;
    int type, seen = 0;
    out[0] = (int32_t)p;
    out[2] = out[3] = out[4] = out[5] = out[6] = -1;
    out[7] = out[8] = 0;
    for (;;) {
        if ((p = rangeio_field(b, p, n, &id, &type)) < 0)
            return -1;
        if (type < 0)
            break;
        int slot = id == 1 ? 5 : id == 3 ? 6 : id == 5 ? 4 : id == 9 ? 7 : id == 4 ? 2 : 0;
        if (!slot) {
            if ((p = rangeio_skip(b, p, n, type, 2, 0)) < 0)
                return -1;
            continue;
        }
        if (seen & 1 << slot)
            return -1;
        seen |= 1 << slot;
        if (slot == 2) {
            if (type != 8 || (p = rangeio_size(b, p, n, &size)) < 0)
                return -1;
            out[2] = (int32_t)p;
            out[3] = (int32_t)size;
            p += size;
            continue;
        }
        p = rangeio_integer(b, p, n, type, slot == 7 ? INT32_MIN : 0, INT32_MAX, &value);
        if (p < 0)
            return -1;
        out[slot] = (int32_t)value;
    }
    out[8] = seen >> 7 & 1;
    out[1] = (int32_t)p;
    return seen & 1 << 2 ? p : -1;
}

/* What elements have before and behind their names: where both are the same, byte for byte, and the
 * name's size is one byte, the element is parsed alike. */
typedef struct {
    uint64_t before, before_mask, behind[2], behind_mask[2];
    int32_t head, tail;                          /* bytes before the name's size, behind the name */
    int32_t row[5];                              /* the last five of nine */
    int32_t next;                                /* the shape that followed this one */
} rangeio_shape;

typedef struct {
    rangeio_shape shapes[RANGEIO_SHAPES];
    int32_t used, last;
    int64_t gained;                              /* elements that had one, less those that had not */
} rangeio_shapes;

static inline uint64_t rangeio_first(int64_t count) {   /* a mask of so many bytes */
    return count >= 8 ? ~(uint64_t)0 : count <= 0 ? 0 : ((uint64_t)1 << 8 * count) - 1;
}

static inline uint64_t rangeio_word(const uint8_t *b) {   /* the first byte is the lowest */
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
           (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 |
           (uint64_t)b[7] << 56;
}

/* Where the element at `p` ends that is of this shape, else -1. */
static inline int64_t rangeio_shaped(const rangeio_shape *s, const uint8_t *b, int64_t p,
                                     int32_t *out) {
    if ((rangeio_word(b + p) ^ s->before) & s->before_mask)
        return -1;
    int64_t size = b[p + s->head], name = p + s->head + 1, at = name + size;
    if (size > 127 ||
        ((rangeio_word(b + at) ^ s->behind[0]) & s->behind_mask[0]) |
            ((rangeio_word(b + at + 8) ^ s->behind[1]) & s->behind_mask[1]))
        return -1;
    out[0] = (int32_t)p;
    out[1] = (int32_t)(at + s->tail);
    out[2] = (int32_t)name;
    out[3] = (int32_t)size;
    memcpy(out + 4, s->row, sizeof s->row);
    return out[1];
}

/* Keep the shape of an element that was parsed into `out`. */
static void rangeio_shape_of(rangeio_shapes *all, const uint8_t *b, int64_t n, const int32_t *out) {
    int64_t head = out[2] - 1 - out[0], tail = out[1] - out[2] - out[3];
    if (all->used == RANGEIO_SHAPES || head > 8 || tail > 16 || out[3] > 127 ||
        out[1] + 16 > n || out[0] + 8 > n || b[out[2] - 1] != out[3])
        return;
    rangeio_shape *s = &all->shapes[all->used];
    s->before = rangeio_word(b + out[0]);
    s->before_mask = rangeio_first(head);
    for (int i = 0; i < 2; i++) {
        s->behind[i] = rangeio_word(b + out[1] - tail + 8 * i);
        s->behind_mask[i] = rangeio_first(tail - 8 * i);
    }
    s->head = (int32_t)head;
    s->tail = (int32_t)tail;
    memcpy(s->row, out + 4, sizeof s->row);
    s->next = 0;
    all->shapes[all->last].next = all->used;
    all->last = all->used++;
}

/* As rangeio_element, sooner where the shape is known. */
static inline int64_t rangeio_next_element(rangeio_shapes *all, const uint8_t *b, int64_t p,
                                           int64_t n, int32_t *out) {
    if (all->used && all->gained > -256 && n - p >= 8 + 1 + 127 + 16) {
        int32_t guess = all->shapes[all->last].next;
        for (int32_t i = -1; i < all->used; i++) {
            int32_t at = i < 0 ? guess : i;
            int64_t stop = rangeio_shaped(&all->shapes[at], b, p, out);
            if (stop >= 0) {
                all->shapes[all->last].next = at;
                all->last = at;
                all->gained++;
                return stop;
            }
        }
    }
    all->gained--;
    if ((p = rangeio_element(b, p, n, out)) >= 0)
        rangeio_shape_of(all, b, n, out);
    return p;
}

/* One RowGroup: `group` gets (start, stop, start and stop of the chunks' list, rows), `chunks` the
 * start of every chunk and the stop of the last. `guesses`: RANGEIO_GUESSES of every leaf. */
static int64_t rangeio_group(rangeio_templates *t, const uint8_t *b, int64_t p, int64_t n,
                             int64_t leaves, uint16_t *guesses, int64_t *group,
                             uint32_t *chunks) {
    int64_t id = 0, count;
    int type, element, seen = 0;
    group[0] = p;
    for (;;) {
        if ((p = rangeio_field(b, p, n, &id, &type)) < 0)
            return -1;
        if (type < 0)
            break;
        if (id == 1) {
            group[2] = p;
            if (seen & 1 || type != 9 || (p = rangeio_list(b, p, n, &count, &element)) < 0)
                return -1;
            if (count != leaves || (count && element != 12))
                return -1;
            for (int64_t i = 0; i < leaves; i++) {
                chunks[i] = (uint32_t)p;
                uint16_t *mine = guesses ? guesses + i * RANGEIO_GUESSES : NULL;
                p = t ? rangeio_skip_chunk(t, b, p, n, 3, mine) : rangeio_skip_struct(b, p, n, 3);
                if (p < 0)
                    return -1;
            }
            chunks[leaves] = (uint32_t)p;
            group[3] = p;
            seen |= 1;
        } else if (id == 3) {
            if (seen & 2)
                return -1;
            if ((p = rangeio_integer(b, p, n, type, 0, INT64_MAX, &group[4])) < 0)
                return -1;
            seen |= 2;
        } else if ((p = rangeio_skip(b, p, n, type, 2, 0)) < 0)
            return -1;
    }
    group[1] = p;
    return seen == 3 ? p : -1;
}

/* ---- the facts of a chunk -------------------------------------------------------------------- */

enum { RANGEIO_FACTS = 16 };

static int64_t rangeio_encodings(const uint8_t *b, int64_t p, int64_t n, int64_t *out) {
    int64_t count, value;
    int element;
    if ((p = rangeio_list(b, p, n, &count, &element)) < 0)
        return -1;
    *out = 0;
    while (count--) {
        if ((p = rangeio_integer(b, p, n, element, INT64_MIN, INT64_MAX, &value)) < 0)
            return -1;
        *out |= value >= 0 && value < 62 ? (int64_t)1 << value : (int64_t)1 << 62;
    }
    return p;
}

static int64_t rangeio_meta_facts(const uint8_t *b, int64_t p, int64_t n, int64_t start,
                                  int64_t *out) {
    static const signed char slots[16] = {-1, 12, -1, -1, 0, 1, 2, 3, -1, 4, -1, 5, -1, -1, 10, 11};
    int64_t id = 0;
    int type;
    for (;;) {
        if ((p = rangeio_field(b, p, n, &id, &type)) < 0)
            return -1;
        if (type < 0)
            return p;
        int slot = id > 0 && id < 16 ? slots[id] : -1;
        if (id == 12 && type == 12)
            out[14] = p - start;
        if (slot >= 0)
            p = rangeio_integer(b, p, n, type, 0, INT64_MAX, &out[slot]);
        else if (id == 2 && type == 9)
            p = rangeio_encodings(b, p, n, &out[13]);
        else
            p = rangeio_skip(b, p, n, type, 5, 0);
        if (p < 0)
            return -1;
    }
}

/* The facts of the chunk that begins at `start`: see rangeio.formats.parquet.leaf.Fact. */
static int64_t rangeio_chunk_facts(const uint8_t *b, int64_t start, int64_t n, int64_t *out) {
    static const signed char slots[8] = {-1, -1, -1, -1, 6, 7, 8, 9};
    int64_t id = 0, p = start;
    int type;
    for (int i = 0; i < RANGEIO_FACTS; i++)
        out[i] = -1;
    out[13] = 0;
    out[15] = 2;
    for (;;) {
        if ((p = rangeio_field(b, p, n, &id, &type)) < 0)
            return -1;
        if (type < 0)
            return p;
        int slot = id > 0 && id < 8 ? slots[id] : -1;
        if (id == 3 && type == 12) {
            out[15] &= ~(int64_t)2;
            p = rangeio_meta_facts(b, p, n, start, out);
        } else {
            if (id == 8)
                out[15] |= 1;
            if (id == 1)
                out[15] |= 4;
            p = slot >= 0 ? rangeio_integer(b, p, n, type, INT64_MIN, INT64_MAX, &out[slot])
                          : rangeio_skip(b, p, n, type, 4, 0);
        }
        if (p < 0)
            return -1;
    }
}

#endif
