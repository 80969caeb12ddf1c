// The baseline for LMDB.
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdlib.h>
#include <unistd.h>

#include "best_rows.h"
#include "index_key.h"
#include "operation.h"
#include "rows.h"

struct baseline_database {
    const baseline_table *table;
    MDB_env *environment;
    // The rows by id, the index as keys without values, the token, and the queue with its index.
    MDB_dbi rows, index, config, operations, operations_by_row;
    // The number of the newest operation.
    uint64_t last_operation;
    MDB_txn *writing;
    row_buffer changed;
};

// A read transaction, which is reset and renewed, and its cursors.
struct baseline_reader {
    const baseline_database *database;
    MDB_txn *transaction;
    MDB_cursor *rows, *index;
    bool is_fresh;
};

static inline int lmdb_fail(int result, baseline_error *error) { return fail(error, "LMDB", mdb_strerror(result)); }

static inline int lmdb_check(int result, baseline_error *error) {
    return result == MDB_SUCCESS ? 0 : lmdb_fail(result, error);
}

// LMDB has no type for constant values.
static inline MDB_val lmdb_value(const void *start, size_t length) {
    return (MDB_val){.mv_size = length, .mv_data = (void *)start};
}

static inline baseline_bytes lmdb_bytes(MDB_val value) { return (baseline_bytes){value.mv_data, value.mv_size}; }

// The index has its own database and needs no prefix byte.
static inline MDB_val lmdb_index_key(const index_key *key) { return lmdb_value(key->bytes + 1, key->length - 1); }

static inline bool lmdb_is_in_list(MDB_val key, const index_key *list) {
    return key.mv_size >= list->length - 1 && memcmp(key.mv_data, list->bytes + 1, list->length - 1) == 0;
}

static inline MDB_val lmdb_indexed_id(MDB_val key, const index_key *list) {
    baseline_bytes id = indexed_id(key.mv_data, key.mv_size, list->length - 1);
    return lmdb_value(id.start, id.length);
}

// MARK: Reading

static int open_reader(baseline_reader *reader, baseline_error *error) {
    const baseline_database *database = reader->database;
    TRY(lmdb_check(mdb_txn_begin(database->environment, NULL, MDB_RDONLY, &reader->transaction), error));
    TRY(lmdb_check(mdb_cursor_open(reader->transaction, database->rows, &reader->rows), error));
    TRY(lmdb_check(mdb_cursor_open(reader->transaction, database->index, &reader->index), error));
    mdb_txn_reset(reader->transaction);
    return 0;
}

static void lmdb_destroy_reader(baseline_reader *reader) {
    if (reader->rows) mdb_cursor_close(reader->rows);
    if (reader->index) mdb_cursor_close(reader->index);
    if (reader->transaction) mdb_txn_abort(reader->transaction);
    free(reader);
}

static int lmdb_make_reader(baseline_database *database, baseline_reader **made, baseline_error *error) {
    baseline_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return fail_for_memory(error);
    reader->database = database;
    if (open_reader(reader, error)) {
        lmdb_destroy_reader(reader);
        return 1;
    }
    *made = reader;
    return 0;
}

static int lmdb_begin_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    (void)is_single;
    return lmdb_check(mdb_txn_renew(reader->transaction), error);
}

static int lmdb_end_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    (void)is_single, (void)error;
    mdb_txn_reset(reader->transaction);
    return 0;
}

static int lmdb_get(baseline_reader *reader, baseline_bytes id, baseline_answer *answer, baseline_error *error) {
    MDB_val key = lmdb_value(id.start, id.length), row;
    int result = mdb_get(reader->transaction, reader->database->rows, &key, &row);
    if (result == MDB_SUCCESS) add_row(answer, row_number(id, row.mv_data), 1);
    return result == MDB_SUCCESS || result == MDB_NOTFOUND ? 0 : lmdb_fail(result, error);
}

static int lmdb_scan(
    baseline_reader *reader, const baseline_bytes *from, size_t limit, baseline_answer *answer,
    baseline_error *error) {
    TRY(lmdb_check(mdb_cursor_renew(reader->transaction, reader->rows), error));
    MDB_val key = from ? lmdb_value(from->start, from->length) : lmdb_value("", 0), row;
    int result = mdb_cursor_get(reader->rows, &key, &row, from ? MDB_SET_RANGE : MDB_FIRST);
    uint64_t place = 0;
    while (result == MDB_SUCCESS && place < limit) {
        add_row(answer, row_number(lmdb_bytes(key), row.mv_data), ++place);
        result = mdb_cursor_get(reader->rows, &key, &row, MDB_NEXT);
    }
    return result == MDB_SUCCESS || result == MDB_NOTFOUND ? 0 : lmdb_fail(result, error);
}

// Scans the index of a list and reads the rows if `reads`, or counts them.
static int walk_index(
    baseline_reader *reader, baseline_bytes list, size_t limit, bool reads, baseline_answer *answer,
    baseline_error *error) {
    index_key prefix;
    TRY(make_list_key(&prefix, list, error));
    TRY(lmdb_check(mdb_cursor_renew(reader->transaction, reader->index), error));
    MDB_val key = lmdb_index_key(&prefix), nothing;
    int result = mdb_cursor_get(reader->index, &key, &nothing, MDB_SET_RANGE);
    uint64_t place = 0;
    while (result == MDB_SUCCESS && place < limit && lmdb_is_in_list(key, &prefix)) {
        place++;
        if (reads) {
            MDB_val id = lmdb_indexed_id(key, &prefix), row;
            TRY(lmdb_check(mdb_get(reader->transaction, reader->database->rows, &id, &row), error));
            add_row(answer, row_number(lmdb_bytes(id), row.mv_data), place);
        } else {
            answer->count++;
        }
        result = mdb_cursor_get(reader->index, &key, &nothing, MDB_NEXT);
    }
    return result == MDB_SUCCESS || result == MDB_NOTFOUND ? 0 : lmdb_fail(result, error);
}

// Scans all rows, counts those of a list, and offers them to `best` if it is not null.
static int walk_rows(
    baseline_reader *reader, baseline_bytes list, best_rows *best, uint64_t *count, baseline_error *error) {
    const baseline_table *table = reader->database->table;
    TRY(lmdb_check(mdb_cursor_renew(reader->transaction, reader->rows), error));
    MDB_val key, row;
    int result;
    while ((result = mdb_cursor_get(reader->rows, &key, &row, MDB_NEXT)) == MDB_SUCCESS) {
        if (!row_is_in_list(row.mv_data, table, list)) continue;
        ++*count;
        if (best) TRY(best_rows_offer(best, row.mv_data, lmdb_bytes(key), table, error));
    }
    return result == MDB_NOTFOUND ? 0 : lmdb_fail(result, error);
}

static int lmdb_find(
    baseline_reader *reader, baseline_bytes list, size_t limit, baseline_answer *answer, baseline_error *error) {
    if (reader->database->table->is_indexed) return walk_index(reader, list, limit, true, answer, error);
    best_rows best;
    uint64_t count = 0;
    TRY(best_rows_make(&best, limit, error));
    int result = walk_rows(reader, list, &best, &count, error);
    if (!result) best_rows_take(&best, answer);
    best_rows_destroy(&best);
    return result;
}

static int lmdb_count(baseline_reader *reader, baseline_bytes list, baseline_answer *answer, baseline_error *error) {
    if (reader->database->table->is_indexed) return walk_index(reader, list, SIZE_MAX, false, answer, error);
    return walk_rows(reader, list, NULL, &answer->count, error);
}

// MARK: Writing

static int lmdb_begin(baseline_database *database, baseline_error *error) {
    return lmdb_check(mdb_txn_begin(database->environment, NULL, 0, &database->writing), error);
}

static int lmdb_commit(baseline_database *database, baseline_error *error) {
    MDB_txn *transaction = database->writing;
    database->writing = NULL;
    return lmdb_check(mdb_txn_commit(transaction), error);
}

static void lmdb_roll_back(baseline_database *database) {
    if (database->writing) mdb_txn_abort(database->writing);
    database->writing = NULL;
}

// MARK: Rows

static int put_index_key(baseline_database *database, const index_key *key, baseline_error *error) {
    if (key->length == 0) return 0;
    MDB_val name = lmdb_index_key(key), nothing = lmdb_value("", 0);
    return lmdb_check(mdb_put(database->writing, database->index, &name, &nothing, 0), error);
}

static int delete_index_key(baseline_database *database, const index_key *key, baseline_error *error) {
    if (key->length == 0) return 0;
    MDB_val name = lmdb_index_key(key);
    return lmdb_check(mdb_del(database->writing, database->index, &name, NULL), error);
}

// Replaces the index key of a row.
static int replace_index_key(
    baseline_database *database, const index_key *old, const index_key *new, baseline_error *error) {
    if (index_keys_are_equal(old, new)) return 0;
    TRY(delete_index_key(database, old, error));
    return put_index_key(database, new, error);
}

static int upsert_indexed(
    baseline_database *database, baseline_bytes id, const uint8_t *row, size_t length, baseline_error *error) {
    index_key old, new;
    TRY(make_index_key(&new, row, id, database->table, error));
    MDB_val key = lmdb_value(id.start, id.length), value = lmdb_value(row, length);
    int result = mdb_put(database->writing, database->rows, &key, &value, MDB_NOOVERWRITE);
    if (result == MDB_SUCCESS) return put_index_key(database, &new, error);
    if (result != MDB_KEYEXIST) return lmdb_fail(result, error);
    TRY(make_index_key(&old, value.mv_data, id, database->table, error));
    value = lmdb_value(row, length);
    TRY(lmdb_check(mdb_put(database->writing, database->rows, &key, &value, 0), error));
    return replace_index_key(database, &old, &new, error);
}

static int lmdb_upsert(baseline_database *database, baseline_rows rows, baseline_error *error) {
    bool is_indexed = database->table->is_indexed;
    for (size_t index = 0; index < rows.count; index++) {
        baseline_entry entry = rows.entries[index];
        const uint8_t *row = rows.buffer + entry.row;
        baseline_bytes id = {rows.buffer + entry.id, (size_t)entry.id_length};
        if (is_indexed) {
            TRY(upsert_indexed(database, id, row, (size_t)entry.row_length, error));
        } else {
            MDB_val key = lmdb_value(id.start, id.length), value = lmdb_value(row, (size_t)entry.row_length);
            TRY(lmdb_check(mdb_put(database->writing, database->rows, &key, &value, 0), error));
        }
    }
    return 0;
}

static int lmdb_enqueue(baseline_database *database, baseline_rows rows, baseline_error *error) {
    operation made;
    for (size_t index = 0; index < rows.count; index++) {
        baseline_entry entry = rows.entries[index];
        baseline_bytes id = {rows.buffer + entry.id, (size_t)entry.id_length};
        TRY(make_operation(&made, ++database->last_operation, id, error));
        // Each has its own database and needs no prefix.
        MDB_val key = lmdb_value(made.key + 1, sizeof made.key - 1), value = lmdb_value(made.row, made.row_length);
        TRY(lmdb_check(mdb_put(database->writing, database->operations, &key, &value, MDB_APPEND), error));
        key = lmdb_value(made.index_key + 1, made.index_key_length - 1), value = lmdb_value("", 0);
        TRY(lmdb_check(mdb_put(database->writing, database->operations_by_row, &key, &value, 0), error));
    }
    return 0;
}

// The list and the rank do not change, so the index does not change either.
static int lmdb_change_text(
    baseline_database *database, baseline_bytes id, baseline_bytes text, bool reads, baseline_answer *answer,
    baseline_error *error) {
    MDB_val key = lmdb_value(id.start, id.length), row;
    int result = mdb_get(database->writing, database->rows, &key, &row);
    if (result == MDB_NOTFOUND) return 0;
    if (result != MDB_SUCCESS) return lmdb_fail(result, error);
    add_row(answer, reads ? row_number(id, row.mv_data) : 0, 1);
    size_t length = row.mv_size;
    TRY(put_text(&database->changed, row.mv_data, &length, database->table->text, text, error));
    row = lmdb_value(database->changed.bytes, length);
    return lmdb_check(mdb_put(database->writing, database->rows, &key, &row, 0), error);
}

// MARK: Deleting

static int delete_indexed(
    baseline_database *database, baseline_bytes id, MDB_val *key, baseline_answer *answer, baseline_error *error) {
    MDB_val row;
    int result = mdb_get(database->writing, database->rows, key, &row);
    if (result == MDB_NOTFOUND) return 0;
    if (result != MDB_SUCCESS) return lmdb_fail(result, error);
    index_key old;
    TRY(make_index_key(&old, row.mv_data, id, database->table, error));
    TRY(lmdb_check(mdb_del(database->writing, database->rows, key, NULL), error));
    answer->count++;
    return delete_index_key(database, &old, error);
}

static int lmdb_delete_ids(
    baseline_database *database, const baseline_bytes *ids, size_t count, baseline_answer *answer,
    baseline_error *error) {
    for (size_t index = 0; index < count; index++) {
        MDB_val key = lmdb_value(ids[index].start, ids[index].length);
        if (database->table->is_indexed) {
            TRY(delete_indexed(database, ids[index], &key, answer, error));
        } else {
            int result = mdb_del(database->writing, database->rows, &key, NULL);
            if (result != MDB_SUCCESS && result != MDB_NOTFOUND) return lmdb_fail(result, error);
            answer->count += result == MDB_SUCCESS;
        }
    }
    return 0;
}

static int delete_by_index(
    baseline_database *database, MDB_cursor *cursor, baseline_bytes list, baseline_answer *answer,
    baseline_error *error) {
    index_key prefix;
    TRY(make_list_key(&prefix, list, error));
    MDB_val key = lmdb_index_key(&prefix), nothing;
    int result = mdb_cursor_get(cursor, &key, &nothing, MDB_SET_RANGE);
    while (result == MDB_SUCCESS && lmdb_is_in_list(key, &prefix)) {
        MDB_val id = lmdb_indexed_id(key, &prefix);
        TRY(lmdb_check(mdb_del(database->writing, database->rows, &id, NULL), error));
        TRY(lmdb_check(mdb_cursor_del(cursor, 0), error));
        answer->count++;
        result = mdb_cursor_get(cursor, &key, &nothing, MDB_NEXT);
    }
    return result == MDB_SUCCESS || result == MDB_NOTFOUND ? 0 : lmdb_fail(result, error);
}

static int delete_by_rows(
    baseline_database *database, MDB_cursor *cursor, baseline_bytes list, baseline_answer *answer,
    baseline_error *error) {
    MDB_val key, row;
    int result;
    while ((result = mdb_cursor_get(cursor, &key, &row, MDB_NEXT)) == MDB_SUCCESS) {
        if (!row_is_in_list(row.mv_data, database->table, list)) continue;
        TRY(lmdb_check(mdb_cursor_del(cursor, 0), error));
        answer->count++;
    }
    return result == MDB_NOTFOUND ? 0 : lmdb_fail(result, error);
}

static int lmdb_delete_list(
    baseline_database *database, baseline_bytes list, baseline_answer *answer, baseline_error *error) {
    bool is_indexed = database->table->is_indexed;
    MDB_cursor *cursor = NULL;
    MDB_dbi space = is_indexed ? database->index : database->rows;
    TRY(lmdb_check(mdb_cursor_open(database->writing, space, &cursor), error));
    int result = is_indexed ? delete_by_index(database, cursor, list, answer, error)
                            : delete_by_rows(database, cursor, list, answer, error);
    mdb_cursor_close(cursor);
    return result;
}

// MARK: Token

static int lmdb_put_token(baseline_database *database, int64_t ticks, baseline_error *error) {
    MDB_val key = lmdb_value("items", 5), value = lmdb_value(&ticks, sizeof ticks);
    return lmdb_check(mdb_put(database->writing, database->config, &key, &value, 0), error);
}

static int lmdb_get_token(baseline_database *database, int64_t *ticks, baseline_error *error) {
    MDB_txn *transaction = NULL;
    TRY(lmdb_check(mdb_txn_begin(database->environment, NULL, MDB_RDONLY, &transaction), error));
    MDB_val key = lmdb_value("items", 5), value;
    int result = mdb_get(transaction, database->config, &key, &value);
    *ticks = result == MDB_SUCCESS ? (int64_t)load_64(value.mv_data) : 0;
    mdb_txn_abort(transaction);
    return result == MDB_SUCCESS || result == MDB_NOTFOUND ? 0 : lmdb_fail(result, error);
}

// MARK: Opening and closing

// The adapter's initial map size, enough for ten million rows. It only reserves address space.
static const size_t map_size = sizeof(void *) > 4 ? (size_t)1 << 34 : (size_t)1 << 28;

// Reads the number of the newest operation.
static int find_last_operation(baseline_database *database, MDB_txn *transaction) {
    MDB_cursor *cursor = NULL;
    MDB_val key, value;
    int result = mdb_cursor_open(transaction, database->operations, &cursor);
    if (result) return result;
    result = mdb_cursor_get(cursor, &key, &value, MDB_LAST);
    if (result == MDB_SUCCESS) database->last_operation = operation_number(key.mv_data);
    mdb_cursor_close(cursor);
    return result == MDB_NOTFOUND ? MDB_SUCCESS : result;
}

static int open_spaces(baseline_database *database, baseline_error *error) {
    MDB_txn *transaction = NULL;
    TRY(lmdb_check(mdb_txn_begin(database->environment, NULL, 0, &transaction), error));
    int result = mdb_dbi_open(transaction, "rows", MDB_CREATE, &database->rows);
    if (!result) result = mdb_dbi_open(transaction, "index", MDB_CREATE, &database->index);
    if (!result) result = mdb_dbi_open(transaction, "config", MDB_CREATE, &database->config);
    if (!result) result = mdb_dbi_open(transaction, "operations", MDB_CREATE, &database->operations);
    if (!result) result = mdb_dbi_open(transaction, "operations_by_row", MDB_CREATE, &database->operations_by_row);
    if (!result) result = find_last_operation(database, transaction);
    if (result) {
        mdb_txn_abort(transaction);
        return lmdb_fail(result, error);
    }
    return lmdb_check(mdb_txn_commit(transaction), error);
}

static int open_environment(
    baseline_database *database, const char *folder, baseline_durability durability, baseline_error *error) {
    unsigned flags = MDB_NOTLS;
    if (durability == BASELINE_NORMAL) flags |= MDB_NOMETASYNC;
    if (durability == BASELINE_NONE) flags |= MDB_NOSYNC;
    TRY(lmdb_check(mdb_env_create(&database->environment), error));
    TRY(lmdb_check(mdb_env_set_mapsize(database->environment, map_size), error));
    TRY(lmdb_check(mdb_env_set_maxdbs(database->environment, 5), error));
    TRY(lmdb_check(mdb_env_open(database->environment, folder, flags, 0644), error));
    return open_spaces(database, error);
}

static int close_environment(baseline_database *database, baseline_error *error) {
    (void)error;
    if (database->environment) mdb_env_close(database->environment);
    free(database->changed.bytes);
    free(database);
    return 0;
}

static int open_folder(
    const char *folder, const baseline_table *table, baseline_durability durability, baseline_database **opened,
    baseline_error *error) {
    baseline_database *database = calloc(1, sizeof *database);
    if (!database) return fail_for_memory(error);
    database->table = table;
    if (open_environment(database, folder, durability, error)) {
        close_environment(database, error);
        return 1;
    }
    *opened = database;
    return 0;
}

// Copies the environment to another file, compacted.
static int copy(const char *folder, const char *copied, baseline_error *error) {
    MDB_env *environment = NULL;
    int result = mdb_env_create(&environment);
    if (!result) result = mdb_env_set_maxdbs(environment, 3);
    if (!result) result = mdb_env_open(environment, folder, MDB_RDONLY | MDB_NOTLS, 0644);
    mdb_filehandle_t file = -1;
    if (!result) {
        file = open(copied, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (file < 0) result = errno;
    }
    if (!result) result = mdb_env_copyfd2(environment, file, MDB_CP_COMPACT);
    if (file >= 0 && close(file) != 0 && !result) result = errno;
    if (environment) mdb_env_close(environment);
    return lmdb_check(result, error);
}

static int compact(const char *folder, baseline_error *error) {
    char copied[4096], data[4096];
    int length = snprintf(copied, sizeof copied, "%s/compacted.mdb", folder);
    if (length >= (int)sizeof copied) return fail(error, "LMDB", "the path is too long");
    snprintf(data, sizeof data, "%s/data.mdb", folder);
    int result = copy(folder, copied, error);
    if (!result && rename(copied, data) != 0) result = lmdb_fail(errno, error);
    if (result) unlink(copied);
    return result;
}

static const char *version(void) {
    static char text[32];
    int major, minor, patch;
    mdb_version(&major, &minor, &patch);
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    return text;
}

static const baseline_engine engine = {
    .version = version,
    .open = open_folder,
    .close = close_environment,
    ENGINE_FUNCTIONS(lmdb),
    .compact = compact,
};

const baseline_engine *baseline_engine_lmdb(void) { return &engine; }
