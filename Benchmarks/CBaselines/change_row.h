// A packed row with another text.
#ifndef TIDELINE_BASELINES_CHANGE_ROW_H
#define TIDELINE_BASELINES_CHANGE_ROW_H

#include "failure.h"
#include "rows.h"

// How long a row may become by another text: in the wide form, every end takes two bytes more.
static inline size_t changed_row_room(size_t length, size_t columns, baseline_bytes text) {
    return length + 2 * columns + text.length;
}

// Writes the row with that text to `changed`, which has the room. Returns its length, 0 when it is too long for the format.
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

#endif
