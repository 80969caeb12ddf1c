// Access to packed rows without validation, and the errors of the baselines.
#ifndef TIDELINE_BASELINES_ROWS_H
#define TIDELINE_BASELINES_ROWS_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baselines.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packed rows are little-endian");

enum { ROW_NARROW = 1, ROW_WIDE = 2, ROW_HEADER = 8 };

// The tags of RowFormat.swift.
enum {
    TAG_ABSENT,
    TAG_NULL,
    TAG_FALSE,
    TAG_TRUE,
    TAG_INT,
    TAG_DOUBLE,
    TAG_STRING,
    TAG_TIMESTAMP,
    TAG_BYTES,
    TAG_JSON,
};

static inline uint16_t load_16(const uint8_t *bytes) {
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint32_t load_32(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline uint64_t load_64(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static inline bool is_word(uint8_t tag) { return tag == TAG_INT || tag == TAG_DOUBLE || tag == TAG_TIMESTAMP; }

static inline size_t row_columns(const uint8_t *row) { return load_16(row + 2); }

static inline const uint8_t *row_tags(const uint8_t *row) { return row + ROW_HEADER; }

static inline size_t row_end(const uint8_t *row, size_t columns, size_t column) {
    const uint8_t *ends = row + ROW_HEADER + columns;
    return row[0] == ROW_NARROW ? load_16(ends + 2 * column) : load_32(ends + 4 * column);
}

// The bytes of a value.
static inline baseline_bytes row_value(const uint8_t *row, size_t column) {
    size_t columns = row_columns(row);
    const uint8_t *payload = row + ROW_HEADER + columns + columns * (row[0] == ROW_NARROW ? 2 : 4);
    size_t start = column == 0 ? 0 : row_end(row, columns, column - 1);
    return (baseline_bytes){payload + start, row_end(row, columns, column) - start};
}

static inline bool row_has(const uint8_t *row, size_t column, uint8_t tag) { return row_tags(row)[column] == tag; }

static inline bool bytes_are_equal(baseline_bytes a, baseline_bytes b) {
    return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}

static inline int compare_bytes(baseline_bytes a, baseline_bytes b) {
    int order = memcmp(a.start, b.start, a.length < b.length ? a.length : b.length);
    return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

static inline bool row_is_in_list(const uint8_t *row, const baseline_table *table, baseline_bytes list) {
    return row_has(row, table->list, TAG_STRING) && bytes_are_equal(row_value(row, table->list), list);
}

static inline int64_t row_rank(const uint8_t *row, const baseline_table *table) {
    return row_has(row, table->rank, TAG_INT) ? (int64_t)load_64(row_value(row, table->rank).start) : INT64_MIN;
}

// MARK: Checksums

static inline uint64_t mixed(uint64_t number, uint64_t value) { return (number ^ value) * 0x100000001B3; }

static inline uint64_t text_number(const uint8_t *start, size_t length) {
    return length == 0 ? 0 : length + ((uint64_t)start[0] << 8) + ((uint64_t)start[length - 1] << 16);
}

static inline uint64_t first_number(baseline_bytes id) {
    return mixed(0xCBF29CE484222325, text_number(id.start, id.length));
}

static inline uint64_t value_number(uint8_t tag, const uint8_t *start, size_t length) {
    // Absent and null, false, true.
    static const uint8_t alone[] = {3, 3, 2, 1};
    if (tag <= TAG_TRUE) return alone[tag];
    return is_word(tag) ? load_64(start) : text_number(start, length);
}

static inline uint64_t row_number(baseline_bytes id, const uint8_t *row) {
    uint64_t number = first_number(id);
    size_t columns = row_columns(row), start = 0;
    const uint8_t *tags = row_tags(row), *ends = tags + columns;
    if (row[0] == ROW_NARROW) {
        const uint8_t *payload = ends + 2 * columns;
        for (size_t column = 0; column < columns; column++) {
            size_t end = load_16(ends + 2 * column);
            number = mixed(number, value_number(tags[column], payload + start, end - start));
            start = end;
        }
    } else {
        const uint8_t *payload = ends + 4 * columns;
        for (size_t column = 0; column < columns; column++) {
            size_t end = load_32(ends + 4 * column);
            number = mixed(number, value_number(tags[column], payload + start, end - start));
            start = end;
        }
    }
    return number;
}

// Adds a row to an answer.
static inline void add_row(baseline_answer *answer, uint64_t number, uint64_t place) {
    answer->count++;
    answer->checksum += number * place;
}

// MARK: Errors

static inline int fail(baseline_error *error, const char *doing, const char *reason) {
    snprintf(error->text, sizeof error->text, "%s: %s", doing, reason);
    return 1;
}

static inline int fail_for_memory(baseline_error *error) { return fail(error, "memory", "out of memory"); }

// Returns if a call fails.
#define TRY(call)         \
    do {                  \
        if (call) return 1; \
    } while (0)

// MARK: Engines

// The functions of an engine whose names start with a prefix.
#define ENGINE_FUNCTIONS(prefix)                                                                           \
    .begin = prefix##_begin, .commit = prefix##_commit, .roll_back = prefix##_roll_back,                   \
    .upsert = prefix##_upsert, .enqueue = prefix##_enqueue, .change_text = prefix##_change_text, .delete_ids = prefix##_delete_ids,     \
    .delete_list = prefix##_delete_list, .put_token = prefix##_put_token, .get_token = prefix##_get_token, \
    .make_reader = prefix##_make_reader, .destroy_reader = prefix##_destroy_reader,                        \
    .begin_reading = prefix##_begin_reading, .end_reading = prefix##_end_reading, .get = prefix##_get,     \
    .scan = prefix##_scan, .find = prefix##_find, .count = prefix##_count

// MARK: Changes

// Writes a row with another text to `changed` and returns its length, or 0 if it is too long for the format.
static inline size_t change_row(
    const uint8_t *row, size_t length, unsigned column, baseline_bytes text, uint8_t *changed) {
    size_t columns = row_columns(row);
    size_t payload = (size_t)(row_value(row, 0).start - row);
    baseline_bytes old = row_value(row, column);
    size_t new_payload = length - payload - old.length + text.length;
    if (new_payload > UINT32_MAX) return 0;
    bool is_narrow = new_payload <= UINT16_MAX;
    memcpy(changed, row, ROW_HEADER + columns);
    changed[0] = is_narrow ? ROW_NARROW : ROW_WIDE;
    changed[ROW_HEADER + column] = TAG_STRING;
    uint8_t *ends = changed + ROW_HEADER + columns;
    for (size_t index = 0; index < columns; index++) {
        size_t end = row_end(row, columns, index);
        if (index >= column) end = end - old.length + text.length;
        uint16_t narrow = (uint16_t)end;
        uint32_t wide = (uint32_t)end;
        if (is_narrow) {
            memcpy(ends + 2 * index, &narrow, 2);
        } else {
            memcpy(ends + 4 * index, &wide, 4);
        }
    }
    uint8_t *out = ends + columns * (is_narrow ? 2 : 4);
    size_t before = (size_t)(old.start - row) - payload;
    memcpy(out, row + payload, before);
    memcpy(out + before, text.start, text.length);
    size_t rest = length - payload - before - old.length;
    memcpy(out + before + text.length, old.start + old.length, rest);
    return (size_t)(out - changed) + new_payload;
}

// A reusable buffer for a changed row.
typedef struct {
    uint8_t *bytes;
    size_t capacity;
} row_buffer;

// Writes a row with another text to a buffer.
static inline int put_text(
    row_buffer *buffer, const uint8_t *row, size_t *length, unsigned column, baseline_bytes text,
    baseline_error *error) {
    // In the wide form, every end takes two more bytes.
    size_t capacity = *length + 2 * row_columns(row) + text.length;
    if (capacity > buffer->capacity) {
        uint8_t *bytes = (uint8_t *)realloc(buffer->bytes, capacity);
        if (!bytes) return fail_for_memory(error);
        *buffer = (row_buffer){bytes, capacity};
    }
    *length = change_row(row, *length, column, text, buffer->bytes);
    return *length ? 0 : fail(error, "row", "the changed row is too long");
}

#endif
