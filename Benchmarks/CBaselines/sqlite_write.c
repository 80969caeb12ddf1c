// SQLite: what changes rows.
#include "sqlite_baseline.h"

int sqlite_begin(baseline_database *database, baseline_error *error) { return sqlite_step_once(database->begin, error); }

int sqlite_commit(baseline_database *database, baseline_error *error) {
    return sqlite_step_once(database->commit, error);
}

void sqlite_roll_back(baseline_database *database) {
    // SQLite may have done it already. A roll-back fails only where the file is beyond help, which its next use tells.
    baseline_error ignored;
    if (!sqlite3_get_autocommit(database->connection)) sqlite_step_once(database->roll_back, &ignored);
}

// Binds a value of a packed row where it lies.
static inline int bind_value(
    sqlite3_stmt *statement, int parameter, uint8_t tag, const uint8_t *start, size_t length) {
    switch (tag) {
        case TAG_FALSE: return sqlite3_bind_int64(statement, parameter, 0);
        case TAG_TRUE: return sqlite3_bind_int64(statement, parameter, 1);
        case TAG_INT:
        case TAG_TIMESTAMP: return sqlite3_bind_int64(statement, parameter, (sqlite3_int64)load_64(start));
        case TAG_DOUBLE: {
            double value;
            memcpy(&value, start, sizeof value);
            return sqlite3_bind_double(statement, parameter, value);
        }
        case TAG_STRING:
        case TAG_JSON:
            return sqlite3_bind_text64(statement, parameter, (const char *)start, length, SQLITE_STATIC, SQLITE_UTF8);
        case TAG_BYTES: return sqlite3_bind_blob64(statement, parameter, start, length, SQLITE_STATIC);
        default: return sqlite3_bind_null(statement, parameter);
    }
}

static int bind_row(sqlite3_stmt *statement, const uint8_t *row) {
    size_t columns = row_columns(row), start = 0;
    const uint8_t *tags = row_tags(row);
    const uint8_t *payload = tags + columns + columns * (row[0] == ROW_NARROW ? 2 : 4);
    int result = SQLITE_OK;
    for (size_t column = 0; column < columns && result == SQLITE_OK; column++) {
        size_t end = row_end(row, columns, column);
        result = bind_value(statement, (int)column + 2, tags[column], payload + start, end - start);
        start = end;
    }
    return result;
}

int sqlite_upsert(baseline_database *database, baseline_rows rows, baseline_error *error) {
    sqlite3_stmt *statement = database->upsert;
    for (size_t index = 0; index < rows.count; index++) {
        baseline_entry entry = rows.entries[index];
        TRY(sqlite_bind(
            statement, 1, (baseline_bytes){rows.buffer + entry.id, (size_t)entry.id_length}, error));
        if (bind_row(statement, rows.buffer + entry.row) != SQLITE_OK) return sqlite_fail(database->connection, error);
        TRY(sqlite_step_once(statement, error));
    }
    return 0;
}

static int read_row(baseline_database *database, baseline_bytes id, baseline_answer *answer, baseline_error *error) {
    sqlite3_stmt *statement = database->select;
    TRY(sqlite_bind(statement, 1, id, error));
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) add_row(answer, sqlite_row_number(statement, database->table), 1);
    if (result != SQLITE_ROW && result != SQLITE_DONE) sqlite_fail(database->connection, error);
    sqlite3_reset(statement);
    return result != SQLITE_ROW && result != SQLITE_DONE;
}

int sqlite_change_text(
    baseline_database *database, baseline_bytes id, baseline_bytes text, bool reads, baseline_answer *answer,
    baseline_error *error) {
    if (reads) TRY(read_row(database, id, answer, error));
    TRY(sqlite_bind(database->update, 1, id, error));
    TRY(sqlite_bind(database->update, 2, text, error));
    TRY(sqlite_step_once(database->update, error));
    if (!reads) answer->count += (uint64_t)sqlite3_changes(database->connection);
    return 0;
}

int sqlite_delete_ids(
    baseline_database *database, const baseline_bytes *ids, size_t count, baseline_answer *answer,
    baseline_error *error) {
    for (size_t index = 0; index < count; index++) {
        TRY(sqlite_bind(database->delete_row, 1, ids[index], error));
        TRY(sqlite_step_once(database->delete_row, error));
        answer->count += (uint64_t)sqlite3_changes(database->connection);
    }
    return 0;
}

int sqlite_delete_list(
    baseline_database *database, baseline_bytes list, baseline_answer *answer, baseline_error *error) {
    TRY(sqlite_bind(database->delete_list, 1, list, error));
    TRY(sqlite_step_once(database->delete_list, error));
    answer->count += (uint64_t)sqlite3_changes(database->connection);
    return 0;
}

int sqlite_put_token(baseline_database *database, int64_t ticks, baseline_error *error) {
    if (sqlite3_bind_int64(database->put_token, 1, ticks) != SQLITE_OK) {
        return sqlite_fail(database->connection, error);
    }
    return sqlite_step_once(database->put_token, error);
}

int sqlite_get_token(baseline_database *database, int64_t *ticks, baseline_error *error) {
    int result = sqlite3_step(database->get_token);
    *ticks = result == SQLITE_ROW ? sqlite3_column_int64(database->get_token, 0) : 0;
    if (result != SQLITE_ROW && result != SQLITE_DONE) sqlite_fail(database->connection, error);
    sqlite3_reset(database->get_token);
    return result != SQLITE_ROW && result != SQLITE_DONE;
}
