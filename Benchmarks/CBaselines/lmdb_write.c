// LMDB: what changes rows.
#include <stdlib.h>

#include "change_row.h"
#include "lmdb_baseline.h"

int lmdb_begin(baseline_database *database, baseline_error *error) {
    return lmdb_check(mdb_txn_begin(database->environment, NULL, 0, &database->writing), error);
}

int lmdb_commit(baseline_database *database, baseline_error *error) {
    MDB_txn *transaction = database->writing;
    database->writing = NULL;
    return lmdb_check(mdb_txn_commit(transaction), error);
}

void lmdb_roll_back(baseline_database *database) {
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

// Puts the key of a row in the place of its old one.
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

int lmdb_upsert(baseline_database *database, baseline_rows rows, baseline_error *error) {
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

static int reserve(baseline_database *database, size_t room, baseline_error *error) {
    if (room <= database->capacity) return 0;
    uint8_t *scratch = realloc(database->scratch, room);
    if (!scratch) return fail_for_memory(error);
    database->scratch = scratch;
    database->capacity = room;
    return 0;
}

// Neither list nor rank changes, nor does the index.
int lmdb_change_text(
    baseline_database *database, baseline_bytes id, baseline_bytes text, bool reads, baseline_answer *answer,
    baseline_error *error) {
    MDB_val key = lmdb_value(id.start, id.length), row;
    int result = mdb_get(database->writing, database->rows, &key, &row);
    if (result == MDB_NOTFOUND) return 0;
    if (result != MDB_SUCCESS) return lmdb_fail(result, error);
    add_row(answer, reads ? row_number(id, row.mv_data) : 0, 1);
    size_t room = changed_row_room(row.mv_size, row_columns(row.mv_data), text);
    TRY(reserve(database, room, error));
    size_t length = change_row(row.mv_data, row.mv_size, database->table->text, text, database->scratch);
    if (length == 0) return fail(error, "LMDB", "a row is too long");
    row = lmdb_value(database->scratch, length);
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

int lmdb_delete_ids(
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

int lmdb_delete_list(
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

int lmdb_put_token(baseline_database *database, int64_t ticks, baseline_error *error) {
    MDB_val key = lmdb_value("items", 5), value = lmdb_value(&ticks, sizeof ticks);
    return lmdb_check(mdb_put(database->writing, database->config, &key, &value, 0), error);
}

int lmdb_get_token(baseline_database *database, int64_t *ticks, baseline_error *error) {
    MDB_txn *transaction = NULL;
    TRY(lmdb_check(mdb_txn_begin(database->environment, NULL, MDB_RDONLY, &transaction), error));
    MDB_val key = lmdb_value("items", 5), value;
    int result = mdb_get(transaction, database->config, &key, &value);
    *ticks = result == MDB_SUCCESS ? (int64_t)load_64(value.mv_data) : 0;
    mdb_txn_abort(transaction);
    return result == MDB_SUCCESS || result == MDB_NOTFOUND ? 0 : lmdb_fail(result, error);
}
