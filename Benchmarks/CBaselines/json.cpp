// Pages of JSON to packed rows, by simdjson's On-Demand parser: its first stage checks UTF-8 and the strings, and each
// value is read once, as its column's type says.
#define SIMDJSON_EXCEPTIONS 0
// simdjson's assertions take a fifth of its time, and the package manager leaves them on.
#if defined(__OPTIMIZE__) && !defined(NDEBUG)
#define NDEBUG
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
#include "failure.h"
#include "json_values.h"
#include "rows.h"

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

struct baseline_parser {
    const baseline_table *table;
    ondemand::parser parser;
    std::vector<std::string_view> names;
    // The row under way: its id and a value for each column.
    std::string_view id;
    std::vector<json_value> values;
    // The rows so far.
    std::vector<uint8_t> buffer;
    std::vector<baseline_entry> entries;
    int64_t newest = INT64_MIN;
    simdjson::padded_string copy;
};

namespace {

int fail_at_json(error_code code, baseline_error *error) {
    return fail(error, "simdjson", simdjson::error_message(code));
}

// MARK: Values

// The text between quotes of a token, which ends with the last of them unless there is an escape within.
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

// The column of a name that is not the one expected; the number of columns for the id.
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

// Services send the members of all rows in the same order: the id, then the columns.
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
    // What no column is for is passed over when the next member is asked for.
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
    // Nothing may come behind the array.
    bool is_at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    return is_at_end ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
}

// simdjson reads some bytes behind the page. They need not be the page's where they lie in the same page of memory,
// which saves a copy nearly always; its documentation calls it free padding.
bool can_read_behind(const uint8_t *page, size_t length) {
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
    if (length > 0 && can_read_behind(page, length)) {
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
