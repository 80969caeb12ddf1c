// Connections and statements of the baseline for SQLite.
#ifndef TIDELINE_BASELINES_SQLITE_H
#define TIDELINE_BASELINES_SQLITE_H

#include <sqlite3.h>

#include "rows.h"

struct baseline_database {
    const baseline_table *table;
    char path[4096];
    sqlite3 *connection;
    sqlite3_stmt *begin, *commit, *roll_back;
    sqlite3_stmt *upsert, *enqueue, *update, *select, *delete_row, *delete_list, *put_token, *get_token;
};

struct baseline_reader {
    const baseline_table *table;
    sqlite3 *connection;
    sqlite3_stmt *begin, *commit;
    sqlite3_stmt *select, *scan, *scan_from, *find, *count;
};

static inline int sqlite_fail(sqlite3 *connection, baseline_error *error) {
    return fail(error, "SQLite", sqlite3_errmsg(connection));
}

// The settings of the adapter, with a larger cache for the one connection, and with the file mapped, as the adapter's option
// `mapsFile` does.
static const char *const settings[] = {
    "PRAGMA cache_size = -8192", "PRAGMA cache_spill = 4096", "PRAGMA mmap_size = 268435456",
    "PRAGMA temp_store = MEMORY", "PRAGMA wal_autocheckpoint = 8000",
};

static inline int sqlite_run(sqlite3 *connection, const char *sql, baseline_error *error) {
    return sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sqlite_fail(connection, error);
}

static inline int sqlite_prepare_text(sqlite3 *connection, const char *sql, sqlite3_stmt **statement, baseline_error *error) {
    int result = sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    return result == SQLITE_OK ? 0 : sqlite_fail(connection, error);
}

// Prepares a statement and frees its text.
static inline int sqlite_prepare(sqlite3 *connection, sqlite3_str *text, sqlite3_stmt **statement, baseline_error *error) {
    char *sql = sqlite3_str_finish(text);
    if (!sql) return fail_for_memory(error);
    int result = sqlite_prepare_text(connection, sql, statement, error);
    sqlite3_free(sql);
    return result;
}

// Runs a statement without results.
static inline int sqlite_step_once(sqlite3_stmt *statement, baseline_error *error) {
    int result = sqlite3_step(statement);
    bool is_failed = result != SQLITE_DONE && result != SQLITE_ROW;
    if (is_failed) sqlite_fail(sqlite3_db_handle(statement), error);
    sqlite3_reset(statement);
    return is_failed;
}

// Closes a connection, if it was opened, and its statements.
static inline int sqlite_close(sqlite3 *connection) {
    sqlite3_stmt *statement;
    // The result of a statement would repeat the error of its last step.
    while (connection && (statement = sqlite3_next_stmt(connection, NULL))) sqlite3_finalize(statement);
    return sqlite3_close(connection);
}

static inline sqlite3_str *sqlite_select(const baseline_table *table) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "SELECT \"id\"");
    for (unsigned column = 0; column < table->count; column++) {
        sqlite3_str_appendf(sql, ", \"%w\"", table->names[column]);
    }
    sqlite3_str_appendall(sql, " FROM items ");
    return sql;
}

static inline int sqlite_open_connection(const char *path, bool may_create, sqlite3 **connection, baseline_error *error) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(path, connection, flags | (may_create ? SQLITE_OPEN_CREATE : 0), NULL) != SQLITE_OK) {
        if (!*connection) return fail_for_memory(error);
        return sqlite_fail(*connection, error);
    }
    if (sqlite3_busy_timeout(*connection, 10000) != SQLITE_OK) return sqlite_fail(*connection, error);
    for (size_t index = 0; index < sizeof settings / sizeof *settings; index++) {
        TRY(sqlite_run(*connection, settings[index], error));
    }
    return 0;
}

// Binds text without a copy; it must remain valid until the statement was stepped.
static inline int sqlite_bind(sqlite3_stmt *statement, int index, baseline_bytes text, baseline_error *error) {
    int result = sqlite3_bind_text64(
        statement, index, text.length ? (const char *)text.start : "", text.length, SQLITE_STATIC, SQLITE_UTF8);
    return result == SQLITE_OK ? 0 : sqlite_fail(sqlite3_db_handle(statement), error);
}

// Reads the id and every column of the current row. Values need no protection, because one thread uses the connection.
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

#endif
