// What the parts of the baseline on SQLite share.
#ifndef TIDELINE_BASELINES_SQLITE_BASELINE_H
#define TIDELINE_BASELINES_SQLITE_BASELINE_H

#include <sqlite3.h>

#include "baselines.h"
#include "failure.h"
#include "rows.h"

struct baseline_database {
    const baseline_table *table;
    char path[4096];
    sqlite3 *connection;
    sqlite3_stmt *begin, *commit, *roll_back;
    sqlite3_stmt *upsert, *update, *select, *delete_row, *delete_list, *put_token, *get_token;
};

struct baseline_reader {
    const baseline_table *table;
    sqlite3 *connection;
    sqlite3_stmt *begin, *commit;
    sqlite3_stmt *select, *scan, *scan_from, *find, *count;
};

int sqlite_open_connection(const char *path, bool may_create, sqlite3 **connection, baseline_error *error);
int sqlite_run(sqlite3 *connection, const char *sql, baseline_error *error);
// Prepares the statement whose text was put together, and lets go of the text.
int sqlite_prepare(sqlite3 *connection, sqlite3_str *sql, sqlite3_stmt **statement, baseline_error *error);
int sqlite_prepare_text(sqlite3 *connection, const char *sql, sqlite3_stmt **statement, baseline_error *error);
// Runs a statement that gives no rows.
int sqlite_step_once(sqlite3_stmt *statement, baseline_error *error);
// A text that begins with `SELECT "id", "text", … FROM items `.
sqlite3_str *sqlite_select(const baseline_table *table);

static inline int sqlite_fail(sqlite3 *connection, baseline_error *error) {
    return fail(error, "SQLite", sqlite3_errmsg(connection));
}

// Binds text that stays where it is until the statement was stepped.
static inline int sqlite_bind(sqlite3_stmt *statement, int index, baseline_bytes text, baseline_error *error) {
    int result = sqlite3_bind_text64(
        statement, index, text.length ? (const char *)text.start : "", text.length, SQLITE_STATIC, SQLITE_UTF8);
    return result == SQLITE_OK ? 0 : sqlite_fail(sqlite3_db_handle(statement), error);
}

// Reads the id and every column of the statement's row. Each value is asked for once: it is safe as the connection is
// one thread's.
static inline uint64_t sqlite_row_number(sqlite3_stmt *statement, const baseline_table *table) {
    sqlite3_value *id = sqlite3_column_value(statement, 0);
    const uint8_t *start = sqlite3_value_blob(id);
    uint64_t number = first_number((baseline_bytes){start, (size_t)sqlite3_value_bytes(id)});
    for (unsigned column = 0; column < table->count; column++) {
        sqlite3_value *value = sqlite3_column_value(statement, (int)column + 1);
        uint64_t mixing = 3;
        if (sqlite3_value_type(value) != SQLITE_NULL) {
            switch (table->types[column]) {
                case BASELINE_BOOL: mixing = sqlite3_value_int64(value) ? 1 : 2; break;
                case BASELINE_INT:
                case BASELINE_TIMESTAMP: mixing = (uint64_t)sqlite3_value_int64(value); break;
                case BASELINE_DOUBLE: {
                    double number = sqlite3_value_double(value);
                    memcpy(&mixing, &number, sizeof mixing);
                    break;
                }
                case BASELINE_STRING: {
                    const uint8_t *text = sqlite3_value_blob(value);
                    mixing = text_number(text, (size_t)sqlite3_value_bytes(value));
                    break;
                }
            }
        }
        number = mixed(number, mixing);
    }
    return number;
}

int sqlite_begin(baseline_database *database, baseline_error *error);
int sqlite_commit(baseline_database *database, baseline_error *error);
void sqlite_roll_back(baseline_database *database);
int sqlite_upsert(baseline_database *database, baseline_rows rows, baseline_error *error);
int sqlite_change_text(
    baseline_database *database, baseline_bytes id, baseline_bytes text, bool reads, baseline_answer *answer,
    baseline_error *error);
int sqlite_delete_ids(
    baseline_database *database, const baseline_bytes *ids, size_t count, baseline_answer *answer,
    baseline_error *error);
int sqlite_delete_list(
    baseline_database *database, baseline_bytes list, baseline_answer *answer, baseline_error *error);
int sqlite_put_token(baseline_database *database, int64_t ticks, baseline_error *error);
int sqlite_get_token(baseline_database *database, int64_t *ticks, baseline_error *error);

int sqlite_make_reader(baseline_database *database, baseline_reader **reader, baseline_error *error);
void sqlite_destroy_reader(baseline_reader *reader);
int sqlite_begin_reading(baseline_reader *reader, bool is_single, baseline_error *error);
int sqlite_end_reading(baseline_reader *reader, bool is_single, baseline_error *error);
int sqlite_get(baseline_reader *reader, baseline_bytes id, baseline_answer *answer, baseline_error *error);
int sqlite_scan(
    baseline_reader *reader, const baseline_bytes *from, size_t limit, baseline_answer *answer, baseline_error *error);
int sqlite_find(
    baseline_reader *reader, baseline_bytes list, size_t limit, baseline_answer *answer, baseline_error *error);
int sqlite_count(baseline_reader *reader, baseline_bytes list, baseline_answer *answer, baseline_error *error);

#endif
