// Parses pages of JSON to packed rows with simdjson's On-Demand parser. Its first stage validates UTF-8 and strings; each value
// is read once, with the type of its column.
#define SIMDJSON_EXCEPTIONS 0
// The package manager does not disable assertions, which take a fifth of simdjson's time.
#if defined(__OPTIMIZE__) && !defined(NDEBUG)
#define NDEBUG
#endif
#if !__has_include(<simdjson.h>)
#error "simdjson is not installed: run `make all-dependencies`, or install libsimdjson-dev (Debian, Ubuntu) or simdjson (Homebrew)"
#endif
#include <simdjson.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "baselines.h"
#include "rows.h"

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

// A JSON value to pack into a row.
struct json_value {
    // The bytes of a text; null for other values.
    const char *start;
    size_t length;
    uint64_t word;
    uint8_t tag;

    void set_null() { *this = {nullptr, 0, 0, TAG_NULL}; }
    void set_bool(bool value) { *this = {nullptr, 0, 0, static_cast<uint8_t>(value ? TAG_TRUE : TAG_FALSE)}; }
    void set_word(uint8_t tag, uint64_t word) { *this = {nullptr, 8, word, tag}; }
    void set_text(std::string_view text) { *this = {text.data(), text.size(), 0, TAG_STRING}; }
};

struct baseline_parser {
    const baseline_table *table;
    ondemand::parser parser;
    std::vector<std::string_view> names;
    // The current row: its id and a value for each column.
    std::string_view id;
    std::vector<json_value> values;
    // The parsed rows.
    std::vector<uint8_t> buffer;
    std::vector<baseline_entry> entries;
    int64_t newest = INT64_MIN;
    simdjson::padded_string copy;
};

namespace {

// MARK: Packing

bool is_narrow(size_t payload) { return payload <= UINT16_MAX; }

size_t payload_length(const std::vector<json_value> &values) {
    size_t length = 0;
    for (const json_value &value : values) length += value.length;
    return length;
}

template <typename Offset>
void pack_as(const std::vector<json_value> &values, uint8_t *row) {
    uint8_t *tags = row + ROW_HEADER, *ends = tags + values.size();
    uint8_t *payload = ends + values.size() * sizeof(Offset), *out = payload;
    for (size_t column = 0; column < values.size(); column++) {
        const json_value &value = values[column];
        tags[column] = value.tag;
        if (value.start) {
            memcpy(out, value.start, value.length);
        } else if (value.length) {
            memcpy(out, &value.word, sizeof value.word);
        }
        out += value.length;
        Offset end = static_cast<Offset>(out - payload);
        memcpy(ends + column * sizeof(Offset), &end, sizeof end);
    }
}

// The length of the packed row, or 0 if it is too long for the format.
size_t packed_length(const std::vector<json_value> &values) {
    size_t payload = payload_length(values);
    if (payload > UINT32_MAX) return 0;
    return ROW_HEADER + values.size() * (is_narrow(payload) ? 3 : 5) + payload;
}

// Writes the packed row.
void pack(const std::vector<json_value> &values, uint8_t *row) {
    bool narrow = is_narrow(payload_length(values));
    uint64_t header = static_cast<uint64_t>(narrow ? ROW_NARROW : ROW_WIDE) | static_cast<uint64_t>(values.size()) << 16;
    memcpy(row, &header, sizeof header);
    if (narrow) {
        pack_as<uint16_t>(values, row);
    } else {
        pack_as<uint32_t>(values, row);
    }
}

// MARK: Timestamps

constexpr int64_t ticks_per_second = 10000000;

// The value of two digits; sets `is_bad` for other characters.
int two_digits(const char *text, bool &is_bad) {
    unsigned tens = static_cast<unsigned>(text[0]) - '0', ones = static_cast<unsigned>(text[1]) - '0';
    is_bad |= (tens > 9) | (ones > 9);
    return static_cast<int>(tens * 10 + ones);
}

// After Howard Hinnant's "chrono-compatible low-level date algorithms".
int64_t days_since_1970(int year, int month, int day) {
    year -= month <= 2;
    int era = year / 400, of_era = year - era * 400;
    int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return static_cast<int64_t>(era) * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

int days_in(int month, int year) {
    if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Parses `YYYY-MM-DD` to days since 1970.
bool read_date(const char *text, int64_t &days) {
    bool is_bad = (text[4] != '-') | (text[7] != '-');
    int year = two_digits(text, is_bad) * 100 + two_digits(text + 2, is_bad);
    int month = two_digits(text + 5, is_bad), day = two_digits(text + 8, is_bad);
    if (is_bad || year < 1 || month < 1 || month > 12 || day < 1 || day > days_in(month, year)) return false;
    days = days_since_1970(year, month, day);
    return true;
}

// Parses `Thh:mm:ss` to seconds since midnight.
bool read_time(const char *text, int64_t &seconds) {
    bool is_bad = (text[0] != 'T') | (text[3] != ':') | (text[6] != ':');
    int hour = two_digits(text + 1, is_bad), minute = two_digits(text + 4, is_bad);
    int second = two_digits(text + 7, is_bad);
    seconds = hour * 3600 + minute * 60 + second;
    return !is_bad && hour < 24 && minute < 60 && second < 60;
}

// Parses an optional fraction of a second at `place` and advances it.
bool read_fraction(std::string_view text, size_t &place, int64_t &ticks) {
    ticks = 0;
    if (place >= text.size() || text[place] != '.') return true;
    int64_t unit = ticks_per_second;
    size_t first = ++place;
    for (; place < text.size() && place < first + 7; place++) {
        unsigned digit = static_cast<unsigned>(text[place]) - '0';
        if (digit > 9) break;
        unit /= 10;
        ticks += digit * unit;
    }
    return place > first;
}

bool read_zone(std::string_view text, size_t place, int64_t &seconds) {
    seconds = 0;
    if (place + 1 == text.size() && text[place] == 'Z') return true;
    if (text.size() != place + 6 || (text[place] != '+' && text[place] != '-') || text[place + 3] != ':') return false;
    bool is_bad = false;
    int hours = two_digits(text.data() + place + 1, is_bad), minutes = two_digits(text.data() + place + 4, is_bad);
    seconds = (hours * 3600 + minutes * 60) * (text[place] == '-' ? -1 : 1);
    return !is_bad && hours < 24 && minutes < 60;
}

// Parses an ISO 8601 timestamp with an offset and up to seven decimals to 100 ns ticks since 1970.
bool read_timestamp(std::string_view text, int64_t &ticks) {
    int64_t days, seconds, fraction, zone;
    size_t place = 19;
    if (text.size() <= place || !read_date(text.data(), days) || !read_time(text.data() + 10, seconds)) return false;
    if (!read_fraction(text, place, fraction) || !read_zone(text, place, zone)) return false;
    ticks = (days * 86400 + seconds - zone) * ticks_per_second + fraction;
    return true;
}

int fail_at_json(error_code code, baseline_error *error) {
    return fail(error, "simdjson", simdjson::error_message(code));
}

// MARK: Values

// The text of a string token without escapes.
bool plain_text(std::string_view token, std::string_view &text) {
    const char *quote = static_cast<const char *>(memchr(token.data() + 1, '"', token.size() - 1));
    if (!quote) return false;
    size_t length = static_cast<size_t>(quote - token.data()) - 1;
    if (memchr(token.data() + 1, '\\', length)) return false;
    text = token.substr(1, length);
    return token.find_first_not_of(" \t\r\n", length + 2) == std::string_view::npos;
}

error_code read_text(ondemand::value value, std::string_view &text) {
    std::string_view token = value.raw_json_token();
    if (token[0] == '"' && plain_text(token, text)) return simdjson::SUCCESS;
    return value.get_string().get(text);
}

error_code read_number(ondemand::value value, json_value &slot) {
    double number;
    if (error_code code = value.get_double().get(number)) return code;
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    slot.set_word(TAG_DOUBLE, bits);
    return simdjson::SUCCESS;
}

error_code read_instant(ondemand::value value, json_value &slot) {
    std::string_view text;
    int64_t ticks;
    if (error_code code = read_text(value, text)) return code;
    if (!read_timestamp(text, ticks)) return simdjson::INCORRECT_TYPE;
    slot.set_word(TAG_TIMESTAMP, static_cast<uint64_t>(ticks));
    return simdjson::SUCCESS;
}

error_code read_value(ondemand::value value, baseline_type type, json_value &slot) {
    bool is_null, truth;
    int64_t number;
    std::string_view text;
    error_code code = value.is_null().get(is_null);
    if (code || is_null) {
        slot.set_null();
        return code;
    }
    switch (type) {
        case BASELINE_BOOL:
            if (!(code = value.get_bool().get(truth))) slot.set_bool(truth);
            return code;
        case BASELINE_INT:
            if (!(code = value.get_int64().get(number))) slot.set_word(TAG_INT, static_cast<uint64_t>(number));
            return code;
        case BASELINE_STRING:
            if (!(code = read_text(value, text))) slot.set_text(text);
            return code;
        case BASELINE_DOUBLE: return read_number(value, slot);
        case BASELINE_TIMESTAMP: return read_instant(value, slot);
    }
    return simdjson::INCORRECT_TYPE;
}

// MARK: Rows

constexpr size_t no_column = SIZE_MAX;

// Finds the column of a name; the id has the number of columns as its index.
error_code find_column(const baseline_parser &parser, ondemand::field &field, size_t &column) {
    std::string_view name;
    if (error_code code = field.unescaped_key().get(name)) return code;
    column = no_column;
    for (size_t index = 0; index < parser.names.size(); index++) {
        if (parser.names[index] == name) column = index;
    }
    if (name == "id") column = parser.names.size();
    return simdjson::SUCCESS;
}

// Services send the members of all rows in the same order, first the id and then the columns.
bool is_expected(const baseline_parser &parser, ondemand::field &field, size_t expected) {
    size_t columns = parser.names.size();
    if (expected == no_column) return false;
    std::string_view name = expected == columns ? std::string_view("id") : parser.names[expected];
    return name.size() < simdjson::SIMDJSON_PADDING && field.key().unsafe_is_equal(name);
}

error_code read_member(baseline_parser &parser, ondemand::field field, size_t &expected) {
    size_t columns = parser.names.size(), column = expected;
    if (!is_expected(parser, field, expected)) {
        if (error_code code = find_column(parser, field, column)) return code;
    }
    // simdjson skips the values of unknown members.
    if (column == no_column) return simdjson::SUCCESS;
    expected = column == columns ? 0 : column + 1 == columns ? no_column : column + 1;
    if (column == columns) return read_text(field.value(), parser.id);
    return read_value(field.value(), parser.table->types[column], parser.values[column]);
}

error_code read_row(baseline_parser &parser, ondemand::object object) {
    for (json_value &value : parser.values) value.set_null();
    parser.id = {};
    size_t expected = parser.names.size();
    for (auto member : object) {
        ondemand::field field;
        if (error_code code = std::move(member).get(field)) return code;
        if (error_code code = read_member(parser, field, expected)) return code;
    }
    return parser.id.empty() ? simdjson::NO_SUCH_FIELD : simdjson::SUCCESS;
}

error_code append_row(baseline_parser &parser) {
    size_t start = parser.buffer.size(), length = packed_length(parser.values);
    if (length == 0) return simdjson::CAPACITY;
    parser.buffer.resize(start + length + parser.id.size());
    pack(parser.values, parser.buffer.data() + start);
    memcpy(parser.buffer.data() + start + length, parser.id.data(), parser.id.size());
    parser.entries.push_back({
        static_cast<intptr_t>(start), static_cast<intptr_t>(length), static_cast<intptr_t>(start + length),
        static_cast<intptr_t>(parser.id.size()),
    });
    const json_value &updated = parser.values[parser.table->updated_at];
    if (updated.tag == TAG_TIMESTAMP) parser.newest = std::max(parser.newest, static_cast<int64_t>(updated.word));
    return simdjson::SUCCESS;
}

error_code read_page(baseline_parser &parser, simdjson::padded_string_view page) {
    ondemand::document document;
    ondemand::array rows;
    if (error_code code = parser.parser.iterate(page).get(document)) return code;
    if (error_code code = document.get_array().get(rows)) return code;
    for (auto element : rows) {
        ondemand::object object;
        if (error_code code = std::move(element).get_object().get(object)) return code;
        if (error_code code = read_row(parser, object)) return code;
        if (error_code code = append_row(parser)) return code;
    }
    // The array must be the whole document.
    bool is_at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    return is_at_end ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
}

// simdjson reads some bytes after the end. If they are in the same page of memory, no padding is needed, which almost always
// saves a copy; see "free padding" in its documentation.
bool can_read_past_end(const uint8_t *page, size_t length) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    return false;
#endif
#endif
    static const uintptr_t memory_page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    uintptr_t last = reinterpret_cast<uintptr_t>(page) + length - 1;
    return last % memory_page + simdjson::SIMDJSON_PADDING < memory_page;
}

simdjson::padded_string_view padded(baseline_parser &parser, const uint8_t *page, size_t length) {
    const char *text = reinterpret_cast<const char *>(page);
    if (length > 0 && can_read_past_end(page, length)) {
        return simdjson::padded_string_view(text, length, length + simdjson::SIMDJSON_PADDING);
    }
    parser.copy = simdjson::padded_string(text, length);
    return parser.copy;
}

}  // namespace

const char *baseline_parser_version(void) {
    static const std::string text = std::to_string(simdjson::SIMDJSON_VERSION_MAJOR) + "."
        + std::to_string(simdjson::SIMDJSON_VERSION_MINOR) + "." + std::to_string(simdjson::SIMDJSON_VERSION_REVISION);
    return text.c_str();
}

int baseline_make_parser(const baseline_table *table, baseline_parser **made, baseline_error *error) {
    try {
        auto parser = std::make_unique<baseline_parser>();
        parser->table = table;
        for (unsigned column = 0; column < table->count; column++) parser->names.push_back(table->names[column]);
        parser->values.resize(table->count);
        *made = parser.release();
        return 0;
    } catch (const std::bad_alloc &) {
        return fail_for_memory(error);
    }
}

void baseline_destroy_parser(baseline_parser *parser) { delete parser; }

int baseline_parse(baseline_parser *parser, const uint8_t *page, size_t length, baseline_error *error) {
    try {
        error_code code = read_page(*parser, padded(*parser, page, length));
        return code == simdjson::SUCCESS ? 0 : fail_at_json(code, error);
    } catch (const std::bad_alloc &) {
        return fail_for_memory(error);
    }
}

baseline_rows baseline_parsed_rows(const baseline_parser *parser) {
    return {parser->buffer.data(), parser->entries.data(), parser->entries.size()};
}

baseline_answer baseline_parsed_answer(const baseline_parser *parser) {
    baseline_answer answer = {0, 0};
    for (const baseline_entry &entry : parser->entries) {
        baseline_bytes id = {parser->buffer.data() + entry.id, static_cast<size_t>(entry.id_length)};
        add_row(&answer, row_number(id, parser->buffer.data() + entry.row), 1);
    }
    return answer;
}

int64_t baseline_parsed_token(const baseline_parser *parser) { return parser->newest; }

void baseline_forget_rows(baseline_parser *parser) {
    parser->buffer.clear();
    parser->entries.clear();
    parser->newest = INT64_MIN;
}
