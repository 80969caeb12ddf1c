// The baseline for SQLite.
#include "sqlite.h"

#include <stdlib.h>

#include "operation.h"

// MARK: Reading

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

static void sqlite_destroy_reader(baseline_reader *reader) {
    sqlite_close(reader->connection);
    free(reader);
}

static int sqlite_make_reader(baseline_database *database, baseline_reader **made, baseline_error *error) {
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

// A single statement needs no explicit transaction.

static int sqlite_begin_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    return is_single ? 0 : sqlite_step_once(reader->begin, error);
}

static int sqlite_end_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    return is_single ? 0 : sqlite_step_once(reader->commit, error);
}

// Reads all rows of a statement.
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
    int result = sqlite3_bind_int64(statement, 2, limit > INT64_MAX ? -1 : (int64_t)limit);
    return result == SQLITE_OK ? 0 : sqlite_fail(sqlite3_db_handle(statement), error);
}

// Reads the row of an id, if there is one.
static int read_row(
    sqlite3_stmt *statement, const baseline_table *table, baseline_bytes id, baseline_answer *answer,
    baseline_error *error) {
    TRY(sqlite_bind(statement, 1, id, error));
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) add_row(answer, sqlite_row_number(statement, table), 1);
    if (result != SQLITE_ROW && result != SQLITE_DONE) sqlite_fail(sqlite3_db_handle(statement), error);
    sqlite3_reset(statement);
    return result != SQLITE_ROW && result != SQLITE_DONE;
}

static int sqlite_get(baseline_reader *reader, baseline_bytes id, baseline_answer *answer, baseline_error *error) {
    return read_row(reader->select, reader->table, id, answer, error);
}

static int sqlite_scan(
    baseline_reader *reader, const baseline_bytes *from, size_t limit, baseline_answer *answer,
    baseline_error *error) {
    if (!from) return read_rows(reader, reader->scan, answer, error);
    TRY(sqlite_bind(reader->scan_from, 1, *from, error));
    TRY(bind_limit(reader->scan_from, limit, error));
    return read_rows(reader, reader->scan_from, answer, error);
}

static int sqlite_find(
    baseline_reader *reader, baseline_bytes list, size_t limit, baseline_answer *answer, baseline_error *error) {
    TRY(sqlite_bind(reader->find, 1, list, error));
    TRY(bind_limit(reader->find, limit, error));
    return read_rows(reader, reader->find, answer, error);
}

static int sqlite_count(baseline_reader *reader, baseline_bytes list, baseline_answer *answer, baseline_error *error) {
    sqlite3_stmt *statement = reader->count;
    TRY(sqlite_bind(statement, 1, list, error));
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) answer->count += (uint64_t)sqlite3_column_int64(statement, 0);
    if (result != SQLITE_ROW) sqlite_fail(reader->connection, error);
    sqlite3_reset(statement);
    return result != SQLITE_ROW;
}

// MARK: Writing

static int sqlite_begin(baseline_database *database, baseline_error *error) { return sqlite_step_once(database->begin, error); }

static int sqlite_commit(baseline_database *database, baseline_error *error) {
    return sqlite_step_once(database->commit, error);
}

static void sqlite_roll_back(baseline_database *database) {
    // SQLite may have rolled back already. If the rollback fails, the next use of the file reports the error.
    baseline_error ignored;
    if (!sqlite3_get_autocommit(database->connection)) sqlite_step_once(database->roll_back, &ignored);
}

// Binds a value of a packed row without a copy.
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

static int sqlite_upsert(baseline_database *database, baseline_rows rows, baseline_error *error) {
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

static int sqlite_enqueue(baseline_database *database, baseline_rows rows, baseline_error *error) {
    sqlite3_stmt *statement = database->enqueue;
    operation made;
    for (size_t index = 0; index < rows.count; index++) {
        baseline_entry entry = rows.entries[index];
        // The column of the number chooses the next one.
        TRY(make_operation(&made, 0, (baseline_bytes){rows.buffer + entry.id, (size_t)entry.id_length}, error));
        if (bind_row(statement, made.row) != SQLITE_OK) return sqlite_fail(database->connection, error);
        TRY(sqlite_step_once(statement, error));
    }
    return 0;
}

static int sqlite_change_text(
    baseline_database *database, baseline_bytes id, baseline_bytes text, bool reads, baseline_answer *answer,
    baseline_error *error) {
    if (reads) TRY(read_row(database->select, database->table, id, answer, error));
    TRY(sqlite_bind(database->update, 1, id, error));
    TRY(sqlite_bind(database->update, 2, text, error));
    TRY(sqlite_step_once(database->update, error));
    if (!reads) answer->count += (uint64_t)sqlite3_changes(database->connection);
    return 0;
}

static int sqlite_delete_ids(
    baseline_database *database, const baseline_bytes *ids, size_t count, baseline_answer *answer,
    baseline_error *error) {
    for (size_t index = 0; index < count; index++) {
        TRY(sqlite_bind(database->delete_row, 1, ids[index], error));
        TRY(sqlite_step_once(database->delete_row, error));
        answer->count += (uint64_t)sqlite3_changes(database->connection);
    }
    return 0;
}

static int sqlite_delete_list(
    baseline_database *database, baseline_bytes list, baseline_answer *answer, baseline_error *error) {
    TRY(sqlite_bind(database->delete_list, 1, list, error));
    TRY(sqlite_step_once(database->delete_list, error));
    answer->count += (uint64_t)sqlite3_changes(database->connection);
    return 0;
}

static int sqlite_put_token(baseline_database *database, int64_t ticks, baseline_error *error) {
    if (sqlite3_bind_int64(database->put_token, 1, ticks) != SQLITE_OK) {
        return sqlite_fail(database->connection, error);
    }
    return sqlite_step_once(database->put_token, error);
}

static int sqlite_get_token(baseline_database *database, int64_t *ticks, baseline_error *error) {
    int result = sqlite3_step(database->get_token);
    *ticks = result == SQLITE_ROW ? sqlite3_column_int64(database->get_token, 0) : 0;
    if (result != SQLITE_ROW && result != SQLITE_DONE) sqlite_fail(database->connection, error);
    sqlite3_reset(database->get_token);
    return result != SQLITE_ROW && result != SQLITE_DONE;
}

// MARK: Opening and closing

static const char *declaration(baseline_type type) {
    switch (type) {
        case BASELINE_BOOL: return "BOOLEAN";
        case BASELINE_INT: return "INTEGER";
        case BASELINE_DOUBLE: return "REAL";
        case BASELINE_STRING: return "TEXT";
        case BASELINE_TIMESTAMP: return "TIMESTAMP";
    }
    return "";
}

static int run_text(sqlite3 *connection, sqlite3_str *text, baseline_error *error) {
    char *sql = sqlite3_str_finish(text);
    if (!sql) return fail_for_memory(error);
    int result = sqlite_run(connection, sql, error);
    sqlite3_free(sql);
    return result;
}

// Creates the same kind of table as the adapter: a rowid table with an index on the id.
static int make_table(baseline_database *database, baseline_error *error) {
    const baseline_table *table = database->table;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "CREATE TABLE IF NOT EXISTS items (\"id\" TEXT NOT NULL PRIMARY KEY");
    for (unsigned column = 0; column < table->count; column++) {
        sqlite3_str_appendf(sql, ", \"%w\" %s", table->names[column], declaration(table->types[column]));
    }
    sqlite3_str_appendall(sql, ")");
    TRY(run_text(database->connection, sql, error));
    TRY(sqlite_run(
        database->connection, "CREATE TABLE IF NOT EXISTS config (name TEXT NOT NULL PRIMARY KEY, ticks INTEGER)",
        error));
    TRY(sqlite_run(
        database->connection,
        "CREATE TABLE IF NOT EXISTS operations (id INTEGER PRIMARY KEY, \"table\" TEXT NOT NULL, itemId TEXT NOT NULL,"
        " itemKey TEXT NOT NULL, tableKind INTEGER NOT NULL, properties TEXT, baseVersion TEXT, base TEXT, pulled TEXT,"
        " attempts INTEGER, sent TEXT, restores INTEGER, revision INTEGER, lastError TEXT);"
        "CREATE INDEX IF NOT EXISTS operations_by_row ON operations (\"table\", itemKey)",
        error));
    if (!table->is_indexed) return 0;
    sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(
        sql, "CREATE INDEX IF NOT EXISTS items_by_list ON items (\"%w\", \"%w\", \"id\")", table->names[table->list],
        table->names[table->rank]);
    return run_text(database->connection, sql, error);
}

static int prepare_upsert(baseline_database *database, baseline_error *error) {
    const baseline_table *table = database->table;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "INSERT INTO items (\"id\"");
    for (unsigned column = 0; column < table->count; column++) {
        sqlite3_str_appendf(sql, ", \"%w\"", table->names[column]);
    }
    sqlite3_str_appendall(sql, ") VALUES (?");
    for (unsigned column = 0; column < table->count; column++) sqlite3_str_appendall(sql, ", ?");
    sqlite3_str_appendall(sql, ") ON CONFLICT (\"id\") DO UPDATE SET ");
    for (unsigned column = 0; column < table->count; column++) {
        const char *name = table->names[column];
        sqlite3_str_appendf(sql, "%s\"%w\" = excluded.\"%w\"", column == 0 ? "" : ", ", name, name);
    }
    return sqlite_prepare(database->connection, sql, &database->upsert, error);
}

static int prepare_changes(baseline_database *database, baseline_error *error) {
    const baseline_table *table = database->table;
    sqlite3 *connection = database->connection;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "UPDATE items SET \"%w\" = ?2 WHERE \"id\" = ?1", table->names[table->text]);
    TRY(sqlite_prepare(connection, sql, &database->update, error));
    sql = sqlite_select(table);
    sqlite3_str_appendall(sql, "WHERE \"id\" = ?1");
    TRY(sqlite_prepare(connection, sql, &database->select, error));
    TRY(sqlite_prepare_text(connection, "DELETE FROM items WHERE \"id\" = ?1", &database->delete_row, error));
    sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "DELETE FROM items WHERE \"%w\" = ?1", table->names[table->list]);
    return sqlite_prepare(connection, sql, &database->delete_list, error);
}

static int prepare_others(baseline_database *database, baseline_error *error) {
    sqlite3 *connection = database->connection;
    TRY(sqlite_prepare_text(
        connection, "INSERT INTO operations VALUES (NULL, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        &database->enqueue, error));
    TRY(sqlite_prepare_text(connection, "BEGIN IMMEDIATE", &database->begin, error));
    TRY(sqlite_prepare_text(connection, "COMMIT", &database->commit, error));
    TRY(sqlite_prepare_text(connection, "ROLLBACK", &database->roll_back, error));
    TRY(sqlite_prepare_text(
        connection, "INSERT OR REPLACE INTO config VALUES ('items', ?1)", &database->put_token, error));
    return sqlite_prepare_text(
        connection, "SELECT ticks FROM config WHERE name = 'items'", &database->get_token, error);
}

static int open_database(baseline_database *database, baseline_durability durability, baseline_error *error) {
    TRY(sqlite_open_connection(database->path, true, &database->connection, error));
    TRY(sqlite_run(database->connection, "PRAGMA journal_mode = WAL", error));
    const char *synchronous = durability == BASELINE_FULL ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL";
    TRY(sqlite_run(database->connection, synchronous, error));
    TRY(make_table(database, error));
    TRY(prepare_upsert(database, error));
    TRY(prepare_changes(database, error));
    return prepare_others(database, error);
}

static int close_database(baseline_database *database, baseline_error *error) {
    int result = sqlite_close(database->connection) == SQLITE_OK ? 0 : sqlite_fail(database->connection, error);
    free(database);
    return result;
}

static int open_folder(
    const char *folder, const baseline_table *table, baseline_durability durability, baseline_database **opened,
    baseline_error *error) {
    baseline_database *database = calloc(1, sizeof *database);
    if (!database) return fail_for_memory(error);
    database->table = table;
    int length = snprintf(database->path, sizeof database->path, "%s/baseline.sqlite", folder);
    int result = length < (int)sizeof database->path ? open_database(database, durability, error)
                                                     : fail(error, "SQLite", "the path is too long");
    if (result) {
        // Report the first error.
        baseline_error closing;
        close_database(database, &closing);
        return 1;
    }
    *opened = database;
    return 0;
}

static int compact(const char *path, baseline_error *error) {
    sqlite3 *connection = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int result = sqlite3_open_v2(path, &connection, flags, NULL) == SQLITE_OK ? 0 : sqlite_fail(connection, error);
    if (!result) result = sqlite_run(connection, "VACUUM", error);
    if (!result) result = sqlite_run(connection, "PRAGMA wal_checkpoint(TRUNCATE)", error);
    if (sqlite3_close(connection) != SQLITE_OK && !result) result = sqlite_fail(connection, error);
    return result;
}

static const baseline_engine engine = {
    .version = sqlite3_libversion,
    .open = open_folder,
    .close = close_database,
    ENGINE_FUNCTIONS(sqlite),
    .compact = compact,
};

const baseline_engine *baseline_engine_sqlite(void) { return &engine; }
