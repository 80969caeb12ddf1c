// Keys, iterators and options of the baseline for LevelDB.
#ifndef TIDELINE_BASELINES_LEVELDB_H
#define TIDELINE_BASELINES_LEVELDB_H

#include <leveldb/c.h>
#include <stdlib.h>

#include "index_key.h"
#include "rows.h"

enum { ROW_MARK = 'r', TOKEN_MARK = 't', MAXIMUM_ROW_KEY = 1024 };

struct baseline_database {
    const baseline_table *table;
    leveldb_t *handle;
    leveldb_options_t *options;
    leveldb_cache_t *cache;
    leveldb_filterpolicy_t *filter;
    leveldb_writeoptions_t *writing;
    // Options for reads that fill the cache, and for long scans that would evict it.
    leveldb_readoptions_t *looking_up, *scanning;
    leveldb_writebatch_t *batch;
    row_buffer changed;
    // The number of the newest operation.
    uint64_t last_operation;
};

struct baseline_reader {
    const baseline_database *database;
    const leveldb_snapshot_t *snapshot;
    leveldb_readoptions_t *looking_up, *scanning;
};

typedef struct {
    uint8_t bytes[MAXIMUM_ROW_KEY];
    size_t length;
} row_key;

static inline int make_row_key(row_key *key, baseline_bytes id, baseline_error *error) {
    if (id.length + 1 > sizeof key->bytes) return fail(error, "LevelDB", "an id is too long");
    key->bytes[0] = ROW_MARK;
    memcpy(key->bytes + 1, id.start, id.length);
    key->length = id.length + 1;
    return 0;
}

// Reports and frees an error message.
static inline int level_check(char *message, baseline_error *error) {
    if (!message) return 0;
    fail(error, "LevelDB", message);
    leveldb_free(message);
    return 1;
}

// Reads the row of an id, to be freed by the caller; null if there is none.
static inline int level_row(
    const baseline_database *database, const leveldb_readoptions_t *options, baseline_bytes id, uint8_t **row,
    size_t *length, baseline_error *error) {
    row_key key;
    char *message = NULL;
    if (make_row_key(&key, id, error)) return 1;
    *row = (uint8_t *)leveldb_get(
        database->handle, options, (const char *)key.bytes, key.length, length, &message);
    return level_check(message, error);
}

static inline baseline_bytes level_key(const leveldb_iterator_t *iterator) {
    baseline_bytes key;
    key.start = (const uint8_t *)leveldb_iter_key(iterator, &key.length);
    return key;
}

static inline const uint8_t *level_value(const leveldb_iterator_t *iterator, size_t *length) {
    return (const uint8_t *)leveldb_iter_value(iterator, length);
}

static inline bool level_is_at_row(const leveldb_iterator_t *iterator) {
    return leveldb_iter_valid(iterator) && level_key(iterator).start[0] == ROW_MARK;
}

static inline baseline_bytes level_row_id(const leveldb_iterator_t *iterator) {
    baseline_bytes key = level_key(iterator);
    return (baseline_bytes){key.start + 1, key.length - 1};
}

static inline bool level_is_in_list(const leveldb_iterator_t *iterator, const index_key *list) {
    if (!leveldb_iter_valid(iterator)) return false;
    baseline_bytes key = level_key(iterator);
    return key.length >= list->length && memcmp(key.start, list->bytes, list->length) == 0;
}

static inline baseline_bytes level_indexed_id(const leveldb_iterator_t *iterator, const index_key *list) {
    baseline_bytes key = level_key(iterator);
    return indexed_id(key.start, key.length, list->length);
}

// Destroys an iterator and reports its error, which LevelDB keeps until the end, unless `result` is an earlier one.
static inline int level_end(leveldb_iterator_t *iterator, int result, baseline_error *error) {
    char *message = NULL;
    baseline_error ignored;
    leveldb_iter_get_error(iterator, &message);
    leveldb_iter_destroy(iterator);
    return level_check(message, result ? &ignored : error) | result;
}

static inline leveldb_readoptions_t *level_make_reading(bool fills_cache) {
    leveldb_readoptions_t *options = leveldb_readoptions_create();
    leveldb_readoptions_set_verify_checksums(options, 1);
    leveldb_readoptions_set_fill_cache(options, fills_cache);
    return options;
}

// MARK: The identifiers of a batch

typedef struct {
    baseline_bytes id;
    // The position of the last row with this identifier.
    size_t position;
} id_slot;

typedef struct {
    id_slot *slots;
    size_t mask;
} id_set;

static inline int id_set_make(id_set *set, size_t count, baseline_error *error) {
    size_t room = 16;
    while (room < 2 * count) room *= 2;
    set->mask = room - 1;
    set->slots = calloc(room, sizeof *set->slots);
    return set->slots ? 0 : fail_for_memory(error);
}

static inline void id_set_destroy(id_set *set) { free(set->slots); }

static inline uint64_t id_hash(baseline_bytes id) {
    uint64_t state = id.length;
    size_t offset = 0;
    for (; offset + 8 <= id.length; offset += 8) {
        state = (state ^ load_64(id.start + offset)) * 0x9E3779B97F4A7C15;
        state ^= state >> 32;
    }
    for (; offset < id.length; offset++) state = (state ^ id.start[offset]) * 0x9E3779B97F4A7C15;
    return state ^ state >> 29;
}

static inline id_slot *id_set_find(id_set *set, baseline_bytes id) {
    size_t place = id_hash(id) & set->mask;
    while (set->slots[place].id.start && !bytes_are_equal(set->slots[place].id, id)) place = (place + 1) & set->mask;
    return &set->slots[place];
}

#endif
