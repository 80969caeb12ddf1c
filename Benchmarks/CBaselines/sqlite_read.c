// SQLite: what reads rows, on a connection for each reader.
#include <stdlib.h>

#include "sqlite_baseline.h"

static int prepare_select(baseline_reader *reader, const char *rest, sqlite3_stmt **statement, baseline_error *error) {
    sqlite3_str *sql = sqlite_select(reader->table);
    sqlite3_str_appendall(sql, rest);
    return sqlite_prepare(reader->connection, sql, statement, error);
}

static int prepare_queries(baseline_reader *reader, baseline_error *error) {
    const char *list = reader->table->names[reader->table->list], *rank = reader->table->names[reader->table->rank];
    sqlite3_str *sql = sqlite_select(reader->table);
    sqlite3_str_appendf(sql, "WHERE \"%w\" = ?1 ORDER BY \"%w\", \"id\" LIMIT ?2", list, rank);
    TRY(sqlite_prepare(reader->connection, sql, &reader->find, error));
    sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "SELECT count(*) FROM items WHERE \"%w\" = ?1", list);
    return sqlite_prepare(reader->connection, sql, &reader->count, error);
}

static int prepare_reader(baseline_reader *reader, baseline_error *error) {
    TRY(sqlite_prepare_text(reader->connection, "BEGIN", &reader->begin, error));
    TRY(sqlite_prepare_text(reader->connection, "COMMIT", &reader->commit, error));
    TRY(prepare_select(reader, "WHERE \"id\" = ?1", &reader->select, error));
    TRY(prepare_select(reader, "ORDER BY \"id\"", &reader->scan, error));
    TRY(prepare_select(reader, "WHERE \"id\" >= ?1 ORDER BY \"id\" LIMIT ?2", &reader->scan_from, error));
    return prepare_queries(reader, error);
}

int sqlite_make_reader(baseline_database *database, baseline_reader **made, baseline_error *error) {
    baseline_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return fail_for_memory(error);
    reader->table = database->table;
    int result = sqlite_open_connection(database->path, false, &reader->connection, error);
    if (!result) result = prepare_reader(reader, error);
    if (result) {
        sqlite_destroy_reader(reader);
        return 1;
    }
    *made = reader;
    return 0;
}

void sqlite_destroy_reader(baseline_reader *reader) {
    sqlite3_stmt *statements[] = {
        reader->begin, reader->commit, reader->select, reader->scan, reader->scan_from, reader->find, reader->count,
    };
    for (size_t index = 0; index < sizeof statements / sizeof *statements; index++) {
        sqlite3_finalize(statements[index]);
    }
    // Without statements nothing keeps it open.
    sqlite3_close(reader->connection);
    free(reader);
}

// A statement alone is a transaction of its own.

int sqlite_begin_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    return is_single ? 0 : sqlite_step_once(reader->begin, error);
}

int sqlite_end_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    return is_single ? 0 : sqlite_step_once(reader->commit, error);
}

// Reads all rows that a statement gives.
static int read_rows(
    baseline_reader *reader, sqlite3_stmt *statement, baseline_answer *answer, baseline_error *error) {
    uint64_t place = 0;
    int result;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        add_row(answer, sqlite_row_number(statement, reader->table), ++place);
    }
    if (result != SQLITE_DONE) sqlite_fail(reader->connection, error);
    sqlite3_reset(statement);
    return result != SQLITE_DONE;
}

static int bind_limit(sqlite3_stmt *statement, size_t limit, baseline_error *error) {
    int64_t most = limit > INT64_MAX ? -1 : (int64_t)limit;
    int result = sqlite3_bind_int64(statement, 2, most);
    return result == SQLITE_OK ? 0 : sqlite_fail(sqlite3_db_handle(statement), error);
}

int sqlite_get(baseline_reader *reader, baseline_bytes id, baseline_answer *answer, baseline_error *error) {
    sqlite3_stmt *statement = reader->select;
    TRY(sqlite_bind(statement, 1, id, error));
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) add_row(answer, sqlite_row_number(statement, reader->table), 1);
    if (result != SQLITE_ROW && result != SQLITE_DONE) sqlite_fail(reader->connection, error);
    sqlite3_reset(statement);
    return result != SQLITE_ROW && result != SQLITE_DONE;
}

int sqlite_scan(
    baseline_reader *reader, const baseline_bytes *from, size_t limit, baseline_answer *answer,
    baseline_error *error) {
    if (!from) return read_rows(reader, reader->scan, answer, error);
    TRY(sqlite_bind(reader->scan_from, 1, *from, error));
    TRY(bind_limit(reader->scan_from, limit, error));
    return read_rows(reader, reader->scan_from, answer, error);
}

int sqlite_find(
    baseline_reader *reader, baseline_bytes list, size_t limit, baseline_answer *answer, baseline_error *error) {
    TRY(sqlite_bind(reader->find, 1, list, error));
    TRY(bind_limit(reader->find, limit, error));
    return read_rows(reader, reader->find, answer, error);
}

int sqlite_count(baseline_reader *reader, baseline_bytes list, baseline_answer *answer, baseline_error *error) {
    sqlite3_stmt *statement = reader->count;
    TRY(sqlite_bind(statement, 1, list, error));
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) answer->count += (uint64_t)sqlite3_column_int64(statement, 0);
    if (result != SQLITE_ROW) sqlite_fail(reader->connection, error);
    sqlite3_reset(statement);
    return result != SQLITE_ROW;
}
