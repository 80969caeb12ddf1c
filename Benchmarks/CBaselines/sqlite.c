// SQLite: opening, closing, and what makes the engine of its parts.
#include "sqlite_baseline.h"

#include <stdlib.h>

// The settings of the adapter.
static const char *const settings[] = {
    "PRAGMA cache_size = -65536", "PRAGMA mmap_size = 268435456", "PRAGMA temp_store = MEMORY",
    "PRAGMA wal_autocheckpoint = 8000",
};

int sqlite_run(sqlite3 *connection, const char *sql, baseline_error *error) {
    return sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sqlite_fail(connection, error);
}

int sqlite_prepare_text(sqlite3 *connection, const char *sql, sqlite3_stmt **statement, baseline_error *error) {
    int result = sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    return result == SQLITE_OK ? 0 : sqlite_fail(connection, error);
}

int sqlite_prepare(sqlite3 *connection, sqlite3_str *text, sqlite3_stmt **statement, baseline_error *error) {
    char *sql = sqlite3_str_finish(text);
    if (!sql) return fail_for_memory(error);
    int result = sqlite_prepare_text(connection, sql, statement, error);
    sqlite3_free(sql);
    return result;
}

int sqlite_step_once(sqlite3_stmt *statement, baseline_error *error) {
    int result = sqlite3_step(statement);
    if (result != SQLITE_DONE && result != SQLITE_ROW) {
        sqlite_fail(sqlite3_db_handle(statement), error);
        sqlite3_reset(statement);
        return 1;
    }
    // The error of a step that failed, which this one did not.
    sqlite3_reset(statement);
    return 0;
}

sqlite3_str *sqlite_select(const baseline_table *table) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "SELECT \"id\"");
    for (unsigned column = 0; column < table->count; column++) {
        sqlite3_str_appendf(sql, ", \"%w\"", table->names[column]);
    }
    sqlite3_str_appendall(sql, " FROM items ");
    return sql;
}

int sqlite_open_connection(const char *path, bool may_create, sqlite3 **connection, baseline_error *error) {
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

// A table of the adapter's kind: rows by number, and the id in an index beside.
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
    sqlite3_stmt *statements[] = {
        database->begin,      database->commit,      database->roll_back, database->upsert,    database->update,
        database->select,     database->delete_row,  database->delete_list, database->put_token, database->get_token,
    };
    for (size_t index = 0; index < sizeof statements / sizeof *statements; index++) {
        // It would tell the error of the last step again.
        sqlite3_finalize(statements[index]);
    }
    int result = sqlite3_close(database->connection) == SQLITE_OK ? 0 : sqlite_fail(database->connection, error);
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
        // The first error is the one to tell.
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
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .roll_back = sqlite_roll_back,
    .upsert = sqlite_upsert,
    .change_text = sqlite_change_text,
    .delete_ids = sqlite_delete_ids,
    .delete_list = sqlite_delete_list,
    .put_token = sqlite_put_token,
    .get_token = sqlite_get_token,
    .make_reader = sqlite_make_reader,
    .destroy_reader = sqlite_destroy_reader,
    .begin_reading = sqlite_begin_reading,
    .end_reading = sqlite_end_reading,
    .get = sqlite_get,
    .scan = sqlite_scan,
    .find = sqlite_find,
    .count = sqlite_count,
    .compact = compact,
};

const baseline_engine *baseline_engine_sqlite(void) { return &engine; }
