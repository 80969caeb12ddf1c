// LevelDB: what changes rows.
#include <stdlib.h>

#include "change_row.h"
#include "id_set.h"
#include "leveldb_baseline.h"

int level_begin(baseline_database *database, baseline_error *error) {
    (void)error;
    leveldb_writebatch_clear(database->batch);
    return 0;
}

int level_commit(baseline_database *database, baseline_error *error) {
    char *message = NULL;
    leveldb_write(database->handle, database->writing, database->batch, &message);
    return level_check(message, error);
}

void level_roll_back(baseline_database *database) { leveldb_writebatch_clear(database->batch); }

// MARK: Rows

static void put_index_key(baseline_database *database, const index_key *key) {
    if (key->length) leveldb_writebatch_put(database->batch, (const char *)key->bytes, key->length, "", 0);
}

static void delete_index_key(baseline_database *database, const index_key *key) {
    if (key->length) leveldb_writebatch_delete(database->batch, (const char *)key->bytes, key->length);
}

static int put_row(
    baseline_database *database, baseline_bytes id, const uint8_t *row, size_t length, baseline_error *error) {
    row_key key;
    TRY(make_row_key(&key, id, error));
    leveldb_writebatch_put(database->batch, (const char *)key.bytes, key.length, (const char *)row, length);
    return 0;
}

// The index key of the row that is stored of an id; of length 0 when there is none.
static int stored_index_key(baseline_database *database, baseline_bytes id, index_key *key, baseline_error *error) {
    uint8_t *row;
    size_t length;
    key->length = 0;
    TRY(level_row(database, database->looking_up, id, &row, &length, error));
    if (!row) return 0;
    int result = make_index_key(key, row, id, database->table, error);
    leveldb_free(row);
    return result;
}

// Notes the index key of a row in the place of the one before, which the same write may have brought.
static int replace_index_key(
    baseline_database *database, baseline_rows rows, size_t position, id_set *met, baseline_error *error) {
    baseline_entry entry = rows.entries[position];
    baseline_bytes id = {rows.buffer + entry.id, (size_t)entry.id_length};
    index_key old, new;
    id_slot *slot = id_set_find(met, id);
    if (slot->id.start) {
        TRY(make_index_key(&old, rows.buffer + rows.entries[slot->position].row, id, database->table, error));
    } else {
        TRY(stored_index_key(database, id, &old, error));
    }
    *slot = (id_slot){id, position};
    TRY(make_index_key(&new, rows.buffer + entry.row, id, database->table, error));
    if (index_keys_are_equal(&old, &new)) return 0;
    delete_index_key(database, &old);
    put_index_key(database, &new);
    return 0;
}

static int replace_index_keys(baseline_database *database, baseline_rows rows, baseline_error *error) {
    id_set met;
    TRY(id_set_make(&met, rows.count, error));
    int result = 0;
    for (size_t position = 0; position < rows.count && !result; position++) {
        result = replace_index_key(database, rows, position, &met, error);
    }
    id_set_destroy(&met);
    return result;
}

int level_upsert(baseline_database *database, baseline_rows rows, baseline_error *error) {
    for (size_t index = 0; index < rows.count; index++) {
        baseline_entry entry = rows.entries[index];
        baseline_bytes id = {rows.buffer + entry.id, (size_t)entry.id_length};
        TRY(put_row(database, id, rows.buffer + entry.row, (size_t)entry.row_length, error));
    }
    return database->table->is_indexed ? replace_index_keys(database, rows, error) : 0;
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
static int put_changed_row(
    baseline_database *database, baseline_bytes id, baseline_bytes text, const uint8_t *row, size_t length,
    baseline_error *error) {
    TRY(reserve(database, changed_row_room(length, row_columns(row), text), error));
    size_t changed = change_row(row, length, database->table->text, text, database->scratch);
    if (changed == 0) return fail(error, "LevelDB", "a row is too long");
    return put_row(database, id, database->scratch, changed, error);
}

int level_change_text(
    baseline_database *database, baseline_bytes id, baseline_bytes text, bool reads, baseline_answer *answer,
    baseline_error *error) {
    uint8_t *row;
    size_t length;
    TRY(level_row(database, database->looking_up, id, &row, &length, error));
    if (!row) return 0;
    add_row(answer, reads ? row_number(id, row) : 0, 1);
    int result = put_changed_row(database, id, text, row, length, error);
    leveldb_free(row);
    return result;
}

// MARK: Deleting

static int delete_row(baseline_database *database, baseline_bytes id, baseline_error *error) {
    row_key key;
    TRY(make_row_key(&key, id, error));
    leveldb_writebatch_delete(database->batch, (const char *)key.bytes, key.length);
    return 0;
}

static int delete_id(
    baseline_database *database, baseline_bytes id, id_set *met, baseline_answer *answer, baseline_error *error) {
    id_slot *slot = id_set_find(met, id);
    if (slot->id.start) return 0;
    slot->id = id;
    uint8_t *row;
    size_t length;
    TRY(level_row(database, database->looking_up, id, &row, &length, error));
    if (!row) return 0;
    index_key old = {.length = 0};
    int result = database->table->is_indexed ? make_index_key(&old, row, id, database->table, error) : 0;
    leveldb_free(row);
    if (result) return 1;
    delete_index_key(database, &old);
    answer->count++;
    return delete_row(database, id, error);
}

int level_delete_ids(
    baseline_database *database, const baseline_bytes *ids, size_t count, baseline_answer *answer,
    baseline_error *error) {
    id_set met;
    TRY(id_set_make(&met, count, error));
    int result = 0;
    for (size_t index = 0; index < count && !result; index++) {
        result = delete_id(database, ids[index], &met, answer, error);
    }
    id_set_destroy(&met);
    return result;
}

static int delete_by_index(
    baseline_database *database, leveldb_iterator_t *iterator, baseline_bytes list, baseline_answer *answer,
    baseline_error *error) {
    index_key prefix;
    TRY(make_list_key(&prefix, list, error));
    leveldb_iter_seek(iterator, (const char *)prefix.bytes, prefix.length);
    for (; level_is_in_list(iterator, &prefix); leveldb_iter_next(iterator)) {
        baseline_bytes key = level_key(iterator);
        leveldb_writebatch_delete(database->batch, (const char *)key.start, key.length);
        TRY(delete_row(database, level_indexed_id(iterator, &prefix), error));
        answer->count++;
    }
    return 0;
}

static int delete_by_rows(
    baseline_database *database, leveldb_iterator_t *iterator, baseline_bytes list, baseline_answer *answer,
    baseline_error *error) {
    const char mark = ROW_MARK;
    leveldb_iter_seek(iterator, &mark, 1);
    for (; level_is_at_row(iterator); leveldb_iter_next(iterator)) {
        size_t length;
        if (!row_is_in_list(level_value(iterator, &length), database->table, list)) continue;
        TRY(delete_row(database, level_row_id(iterator), error));
        answer->count++;
    }
    return 0;
}

int level_delete_list(
    baseline_database *database, baseline_bytes list, baseline_answer *answer, baseline_error *error) {
    bool is_indexed = database->table->is_indexed;
    leveldb_iterator_t *iterator =
        leveldb_create_iterator(database->handle, is_indexed ? database->looking_up : database->scanning);
    int result = is_indexed ? delete_by_index(database, iterator, list, answer, error)
                            : delete_by_rows(database, iterator, list, answer, error);
    baseline_error ending;
    int ended = level_end(iterator, result ? &ending : error);
    return result | ended;
}

// MARK: Token

static const char token_key[] = {TOKEN_MARK};

int level_put_token(baseline_database *database, int64_t ticks, baseline_error *error) {
    (void)error;
    leveldb_writebatch_put(database->batch, token_key, sizeof token_key, (const char *)&ticks, sizeof ticks);
    return 0;
}

int level_get_token(baseline_database *database, int64_t *ticks, baseline_error *error) {
    char *message = NULL;
    size_t length = 0;
    char *value = leveldb_get(
        database->handle, database->looking_up, token_key, sizeof token_key, &length, &message);
    *ticks = length == sizeof *ticks ? (int64_t)load_64((const uint8_t *)value) : 0;
    if (value) leveldb_free(value);
    return level_check(message, error);
}
