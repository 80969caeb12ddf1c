// One value of JSON on its way to a packed row.
#ifndef TIDELINE_BASELINES_JSON_VALUES_H
#define TIDELINE_BASELINES_JSON_VALUES_H

#include <cstdint>
#include <string_view>
#include <vector>

#include "rows.h"

struct json_value {
    // The bytes of a text, null for all others.
    const char *start;
    size_t length;
    uint64_t word;
    uint8_t tag;

    void set_null() { *this = {nullptr, 0, 0, TAG_NULL}; }
    void set_bool(bool value) { *this = {nullptr, 0, 0, static_cast<uint8_t>(value ? TAG_TRUE : TAG_FALSE)}; }
    void set_word(uint8_t tag, uint64_t word) { *this = {nullptr, 8, word, tag}; }
    void set_text(std::string_view text) { *this = {text.data(), text.size(), 0, TAG_STRING}; }
};

// The length of the packed row of some values; 0 when that is more than the format has.
size_t packed_length(const std::vector<json_value> &values);
// Packs values into as many bytes.
void pack(const std::vector<json_value> &values, uint8_t *row);

// The ticks of 100 ns since 1970 of an instant in ISO 8601, with up to seven digits of a second's fraction, in UTC or with
// an offset. False when the text is none.
bool read_timestamp(std::string_view text, int64_t &ticks);

#endif
