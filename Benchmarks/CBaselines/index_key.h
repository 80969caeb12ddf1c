// The keys of a secondary index: a prefix byte, the list, 00, the rank in an ordered encoding, and the id. The prefix is for
// engines with a single key space.
#ifndef TIDELINE_BASELINES_INDEX_KEY_H
#define TIDELINE_BASELINES_INDEX_KEY_H

#include "baselines.h"
#include "rows.h"

enum { INDEX_MARK = 'i', MAXIMUM_INDEX_KEY = 1024 };

typedef struct {
    uint8_t bytes[MAXIMUM_INDEX_KEY];
    // 0 for a row without a list.
    size_t length;
} index_key;

// The common prefix of the keys of a list.
static inline int make_list_key(index_key *key, baseline_bytes list, baseline_error *error) {
    if (list.length + 2 > sizeof key->bytes) return fail(error, "index", "the name of a list is too long");
    key->bytes[0] = INDEX_MARK;
    memcpy(key->bytes + 1, list.start, list.length);
    key->bytes[list.length + 1] = 0;
    key->length = list.length + 2;
    return 0;
}

static inline int make_index_key(
    index_key *key, const uint8_t *row, baseline_bytes id, const baseline_table *table, baseline_error *error) {
    key->length = 0;
    if (!row_has(row, table->list, TAG_STRING)) return 0;
    if (make_list_key(key, row_value(row, table->list), error)) return 1;
    if (key->length + 8 + id.length > sizeof key->bytes) return fail(error, "index", "an id is too long");
    uint64_t rank = __builtin_bswap64((uint64_t)row_rank(row, table) ^ (uint64_t)1 << 63);
    memcpy(key->bytes + key->length, &rank, 8);
    memcpy(key->bytes + key->length + 8, id.start, id.length);
    key->length += 8 + id.length;
    return 0;
}

static inline bool index_keys_are_equal(const index_key *a, const index_key *b) {
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

// The id in an index key; `list_length` is the length of the list's prefix.
static inline baseline_bytes indexed_id(const uint8_t *key, size_t length, size_t list_length) {
    return (baseline_bytes){key + list_length + 8, length - list_length - 8};
}

#endif
