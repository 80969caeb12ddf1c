// An operation of a queue as a packed row with the columns of a client's queue: table, itemId, itemKey, tableKind, properties,
// baseVersion, base, pulled, attempts, sent, restores, revision, lastError.
#ifndef TIDELINE_BASELINES_OPERATION_H
#define TIDELINE_BASELINES_OPERATION_H

#include "baselines.h"
#include "rows.h"

enum { OPERATION_COLUMNS = 13, MAXIMUM_OPERATION = 4096, MAXIMUM_OPERATION_ID = 1024 };

static const char operation_table[] = "items", operation_sent[] = "[]";

typedef struct {
    // The prefixes are for engines with a single key space; numbers are in order.
    uint8_t key[9];
    // The key of the index by row: prefix, table, 00, identifier, 00, number.
    uint8_t index_key[MAXIMUM_OPERATION_ID + 32];
    size_t index_key_length;
    uint8_t row[MAXIMUM_OPERATION];
    size_t row_length;
} operation;

// Appends a value of a column and its end.
static inline void append_operation_value(operation *made, size_t column, uint8_t tag, const void *start, size_t length) {
    size_t payload = ROW_HEADER + OPERATION_COLUMNS * 3;
    memcpy(made->row + made->row_length, start, length);
    made->row_length += length;
    made->row[ROW_HEADER + column] = tag;
    uint16_t end = (uint16_t)(made->row_length - payload);
    memcpy(made->row + ROW_HEADER + OPERATION_COLUMNS + 2 * column, &end, sizeof end);
}

static inline void make_operation_keys(operation *made, uint64_t number, baseline_bytes id) {
    uint64_t ordered = __builtin_bswap64(number);
    made->key[0] = 'o';
    memcpy(made->key + 1, &ordered, sizeof ordered);
    uint8_t *key = made->index_key;
    *key++ = 'q';
    memcpy(key, operation_table, sizeof operation_table);
    key += sizeof operation_table;
    memcpy(key, id.start, id.length);
    key += id.length;
    *key++ = 0;
    memcpy(key, &ordered, sizeof ordered);
    made->index_key_length = (size_t)(key + sizeof ordered - made->index_key);
}

// Makes the operation of an insert.
static inline int make_operation(operation *made, uint64_t number, baseline_bytes id, baseline_error *error) {
    if (id.length > MAXIMUM_OPERATION_ID) return fail(error, "operation", "an id is too long");
    const uint64_t zero = 0;
    const uint16_t columns = OPERATION_COLUMNS;
    memset(made->row, 0, ROW_HEADER);
    made->row[0] = ROW_NARROW;
    memcpy(made->row + 2, &columns, sizeof columns);
    made->row_length = ROW_HEADER + OPERATION_COLUMNS * 3;
    append_operation_value(made, 0, TAG_STRING, operation_table, sizeof operation_table - 1);
    append_operation_value(made, 1, TAG_STRING, id.start, id.length);
    append_operation_value(made, 2, TAG_STRING, id.start, id.length);
    append_operation_value(made, 3, TAG_INT, &zero, sizeof zero);
    for (size_t column = 4; column < 8; column++) append_operation_value(made, column, TAG_NULL, "", 0);
    append_operation_value(made, 8, TAG_INT, &zero, sizeof zero);
    append_operation_value(made, 9, TAG_JSON, operation_sent, sizeof operation_sent - 1);
    append_operation_value(made, 10, TAG_FALSE, "", 0);
    append_operation_value(made, 11, TAG_INT, &zero, sizeof zero);
    append_operation_value(made, 12, TAG_NULL, "", 0);
    make_operation_keys(made, number, id);
    return 0;
}

// The number in a key without its prefix.
static inline uint64_t operation_number(const uint8_t *key) { return __builtin_bswap64(load_64(key)); }

#endif
