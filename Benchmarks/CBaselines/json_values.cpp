#include "json_values.h"

#include <cstring>

namespace {

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

}  // namespace

size_t packed_length(const std::vector<json_value> &values) {
    size_t payload = payload_length(values);
    if (payload > UINT32_MAX) return 0;
    return ROW_HEADER + values.size() * (is_narrow(payload) ? 3 : 5) + payload;
}

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

namespace {

constexpr int64_t ticks_per_second = 10000000;

// The number that two digits make; `are_bad` is set when one is none.
int two_digits(const char *text, bool &are_bad) {
    unsigned tens = static_cast<unsigned>(text[0]) - '0', ones = static_cast<unsigned>(text[1]) - '0';
    are_bad |= (tens > 9) | (ones > 9);
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

// The days since 1970 of `YYYY-MM-DD`.
bool read_date(const char *text, int64_t &days) {
    bool is_bad = (text[4] != '-') | (text[7] != '-');
    int year = two_digits(text, is_bad) * 100 + two_digits(text + 2, is_bad);
    int month = two_digits(text + 5, is_bad), day = two_digits(text + 8, is_bad);
    if (is_bad || year < 1 || month < 1 || month > 12 || day < 1 || day > days_in(month, year)) return false;
    days = days_since_1970(year, month, day);
    return true;
}

// The seconds since midnight of `Thh:mm:ss`.
bool read_time(const char *text, int64_t &seconds) {
    bool is_bad = (text[0] != 'T') | (text[3] != ':') | (text[6] != ':');
    int hour = two_digits(text + 1, is_bad), minute = two_digits(text + 4, is_bad);
    int second = two_digits(text + 7, is_bad);
    seconds = hour * 3600 + minute * 60 + second;
    return !is_bad && hour < 24 && minute < 60 && second < 60;
}

// The fraction of a second that may come at `place`, which is moved behind it.
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

}  // namespace

bool read_timestamp(std::string_view text, int64_t &ticks) {
    int64_t days, seconds, fraction, zone;
    size_t place = 19;
    if (text.size() <= place || !read_date(text.data(), days) || !read_time(text.data() + 10, seconds)) return false;
    if (!read_fraction(text, place, fraction) || !read_zone(text, place, zone)) return false;
    ticks = (days * 86400 + seconds - zone) * ticks_per_second + fraction;
    return true;
}
