// LevelDB: what reads rows, in a snapshot where there is more than one to read.
#include <stdlib.h>

#include "best_rows.h"
#include "leveldb_baseline.h"

int level_make_reader(baseline_database *database, baseline_reader **made, baseline_error *error) {
    baseline_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return fail_for_memory(error);
    reader->database = database;
    reader->looking_up = level_make_reading(true);
    reader->scanning = level_make_reading(false);
    *made = reader;
    return 0;
}

void level_destroy_reader(baseline_reader *reader) {
    leveldb_readoptions_destroy(reader->looking_up);
    leveldb_readoptions_destroy(reader->scanning);
    free(reader);
}

// A look-up alone and a walk alone see one state by themselves.

int level_begin_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    (void)error;
    if (is_single) return 0;
    reader->snapshot = leveldb_create_snapshot(reader->database->handle);
    leveldb_readoptions_set_snapshot(reader->looking_up, reader->snapshot);
    leveldb_readoptions_set_snapshot(reader->scanning, reader->snapshot);
    return 0;
}

int level_end_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    (void)error;
    if (is_single) return 0;
    leveldb_readoptions_set_snapshot(reader->looking_up, NULL);
    leveldb_readoptions_set_snapshot(reader->scanning, NULL);
    leveldb_release_snapshot(reader->database->handle, reader->snapshot);
    reader->snapshot = NULL;
    return 0;
}

// Reads a row, and adds it at a place.
static int read_at(
    baseline_reader *reader, baseline_bytes id, uint64_t place, baseline_answer *answer, baseline_error *error) {
    uint8_t *row;
    size_t length;
    TRY(level_row(reader->database, reader->looking_up, id, &row, &length, error));
    if (!row) return 0;
    add_row(answer, row_number(id, row), place);
    leveldb_free(row);
    return 0;
}

int level_get(baseline_reader *reader, baseline_bytes id, baseline_answer *answer, baseline_error *error) {
    return read_at(reader, id, 1, answer, error);
}

int level_scan(
    baseline_reader *reader, const baseline_bytes *from, size_t limit, baseline_answer *answer,
    baseline_error *error) {
    row_key first;
    TRY(make_row_key(&first, from ? *from : (baseline_bytes){(const uint8_t *)"", 0}, error));
    // A short scan comes again, a long one would drive others out of the cache.
    leveldb_iterator_t *iterator =
        leveldb_create_iterator(reader->database->handle, from ? reader->looking_up : reader->scanning);
    leveldb_iter_seek(iterator, (const char *)first.bytes, first.length);
    for (uint64_t place = 1; place <= limit && level_is_at_row(iterator); place++) {
        size_t length;
        add_row(answer, row_number(level_row_id(iterator), level_value(iterator, &length)), place);
        leveldb_iter_next(iterator);
    }
    return level_end(iterator, error);
}

// Goes over the keys of a list, and reads the rows when `reads`, which takes a snapshot.
static int walk_index(
    baseline_reader *reader, baseline_bytes list, size_t limit, bool reads, baseline_answer *answer,
    baseline_error *error) {
    index_key prefix;
    TRY(make_list_key(&prefix, list, error));
    leveldb_iterator_t *iterator = leveldb_create_iterator(reader->database->handle, reader->looking_up);
    leveldb_iter_seek(iterator, (const char *)prefix.bytes, prefix.length);
    int result = 0;
    for (uint64_t place = 1; !result && place <= limit && level_is_in_list(iterator, &prefix); place++) {
        if (reads) {
            result = read_at(reader, level_indexed_id(iterator, &prefix), place, answer, error);
        } else {
            answer->count++;
        }
        leveldb_iter_next(iterator);
    }
    baseline_error ending;
    int ended = level_end(iterator, result ? &ending : error);
    return result | ended;
}

// Goes over all rows, offers those of a list where `best` is not null, and counts them.
static int walk_rows(
    baseline_reader *reader, baseline_bytes list, best_rows *best, uint64_t *count, baseline_error *error) {
    const baseline_table *table = reader->database->table;
    const char mark = ROW_MARK;
    leveldb_iterator_t *iterator = leveldb_create_iterator(reader->database->handle, reader->scanning);
    leveldb_iter_seek(iterator, &mark, 1);
    int result = 0;
    for (; !result && level_is_at_row(iterator); leveldb_iter_next(iterator)) {
        size_t length;
        const uint8_t *row = level_value(iterator, &length);
        if (!row_is_in_list(row, table, list)) continue;
        ++*count;
        if (best) result = best_rows_offer(best, row, level_row_id(iterator), table, error);
    }
    baseline_error ending;
    int ended = level_end(iterator, result ? &ending : error);
    return result | ended;
}

static int find_by_index(
    baseline_reader *reader, baseline_bytes list, size_t limit, baseline_answer *answer, baseline_error *error) {
    if (reader->snapshot) return walk_index(reader, list, limit, true, answer, error);
    TRY(level_begin_reading(reader, false, error));
    int result = walk_index(reader, list, limit, true, answer, error);
    return level_end_reading(reader, false, error) | result;
}

int level_find(
    baseline_reader *reader, baseline_bytes list, size_t limit, baseline_answer *answer, baseline_error *error) {
    if (reader->database->table->is_indexed) return find_by_index(reader, list, limit, answer, error);
    best_rows best;
    uint64_t count = 0;
    TRY(best_rows_make(&best, limit, error));
    int result = walk_rows(reader, list, &best, &count, error);
    if (!result) best_rows_take(&best, answer);
    best_rows_destroy(&best);
    return result;
}

int level_count(baseline_reader *reader, baseline_bytes list, baseline_answer *answer, baseline_error *error) {
    if (reader->database->table->is_indexed) return walk_index(reader, list, SIZE_MAX, false, answer, error);
    return walk_rows(reader, list, NULL, &answer->count, error);
}
