// The baseline for LevelDB.
#include "leveldb.h"
#include "operation.h"

#include "best_rows.h"

// MARK: Reading

static int level_make_reader(baseline_database *database, baseline_reader **made, baseline_error *error) {
    baseline_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return fail_for_memory(error);
    reader->database = database;
    reader->looking_up = level_make_reading(true);
    reader->scanning = level_make_reading(false);
    *made = reader;
    return 0;
}

static void level_destroy_reader(baseline_reader *reader) {
    leveldb_readoptions_destroy(reader->looking_up);
    leveldb_readoptions_destroy(reader->scanning);
    free(reader);
}

// A single read needs no explicit snapshot.

static int level_begin_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    (void)error;
    if (is_single) return 0;
    reader->snapshot = leveldb_create_snapshot(reader->database->handle);
    leveldb_readoptions_set_snapshot(reader->looking_up, reader->snapshot);
    leveldb_readoptions_set_snapshot(reader->scanning, reader->snapshot);
    return 0;
}

static int level_end_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    (void)error;
    if (is_single) return 0;
    leveldb_readoptions_set_snapshot(reader->looking_up, NULL);
    leveldb_readoptions_set_snapshot(reader->scanning, NULL);
    leveldb_release_snapshot(reader->database->handle, reader->snapshot);
    reader->snapshot = NULL;
    return 0;
}

// Reads a row and adds it to the answer at a position.
static int read_at(
    baseline_reader *reader, baseline_bytes id, uint64_t place, baseline_answer *answer, baseline_error *error) {
    uint8_t *row;
    size_t length;
    TRY(level_row(reader->database, reader->looking_up, id, &row, &length, error));
    if (!row) return 0;
    add_row(answer, row_number(id, row), place);
    leveldb_free(row);
    return 0;
}

static int level_get(baseline_reader *reader, baseline_bytes id, baseline_answer *answer, baseline_error *error) {
    return read_at(reader, id, 1, answer, error);
}

static int level_scan(
    baseline_reader *reader, const baseline_bytes *from, size_t limit, baseline_answer *answer,
    baseline_error *error) {
    row_key first;
    TRY(make_row_key(&first, from ? *from : (baseline_bytes){(const uint8_t *)"", 0}, error));
    // Only short scans fill the cache; a long one would evict other blocks.
    leveldb_iterator_t *iterator =
        leveldb_create_iterator(reader->database->handle, from ? reader->looking_up : reader->scanning);
    leveldb_iter_seek(iterator, (const char *)first.bytes, first.length);
    for (uint64_t place = 1; place <= limit && level_is_at_row(iterator); place++) {
        size_t length;
        add_row(answer, row_number(level_row_id(iterator), level_value(iterator, &length)), place);
        leveldb_iter_next(iterator);
    }
    return level_end(iterator, 0, error);
}

// Scans the index of a list and reads the rows if `reads`, which needs a snapshot, or counts them.
static int walk_index(
    baseline_reader *reader, baseline_bytes list, size_t limit, bool reads, baseline_answer *answer,
    baseline_error *error) {
    index_key prefix;
    TRY(make_list_key(&prefix, list, error));
    leveldb_iterator_t *iterator = leveldb_create_iterator(reader->database->handle, reader->looking_up);
    leveldb_iter_seek(iterator, (const char *)prefix.bytes, prefix.length);
    int result = 0;
    for (uint64_t place = 1; !result && place <= limit && level_is_in_list(iterator, &prefix); place++) {
        if (reads) {
            result = read_at(reader, level_indexed_id(iterator, &prefix), place, answer, error);
        } else {
            answer->count++;
        }
        leveldb_iter_next(iterator);
    }
    return level_end(iterator, result, error);
}

// Scans all rows, counts those of a list, and offers them to `best` if it is not null.
static int walk_rows(
    baseline_reader *reader, baseline_bytes list, best_rows *best, uint64_t *count, baseline_error *error) {
    const baseline_table *table = reader->database->table;
    const char mark = ROW_MARK;
    leveldb_iterator_t *iterator = leveldb_create_iterator(reader->database->handle, reader->scanning);
    leveldb_iter_seek(iterator, &mark, 1);
    int result = 0;
    for (; !result && level_is_at_row(iterator); leveldb_iter_next(iterator)) {
        size_t length;
        const uint8_t *row = level_value(iterator, &length);
        if (!row_is_in_list(row, table, list)) continue;
        ++*count;
        if (best) result = best_rows_offer(best, row, level_row_id(iterator), table, error);
    }
    return level_end(iterator, result, error);
}

static int find_by_index(
    baseline_reader *reader, baseline_bytes list, size_t limit, baseline_answer *answer, baseline_error *error) {
    if (reader->snapshot) return walk_index(reader, list, limit, true, answer, error);
    TRY(level_begin_reading(reader, false, error));
    int result = walk_index(reader, list, limit, true, answer, error);
    return level_end_reading(reader, false, error) | result;
}

static int level_find(
    baseline_reader *reader, baseline_bytes list, size_t limit, baseline_answer *answer, baseline_error *error) {
    if (reader->database->table->is_indexed) return find_by_index(reader, list, limit, answer, error);
    best_rows best;
    uint64_t count = 0;
    TRY(best_rows_make(&best, limit, error));
    int result = walk_rows(reader, list, &best, &count, error);
    if (!result) best_rows_take(&best, answer);
    best_rows_destroy(&best);
    return result;
}

static int level_count(baseline_reader *reader, baseline_bytes list, baseline_answer *answer, baseline_error *error) {
    if (reader->database->table->is_indexed) return walk_index(reader, list, SIZE_MAX, false, answer, error);
    return walk_rows(reader, list, NULL, &answer->count, error);
}

// MARK: Writing

static int level_begin(baseline_database *database, baseline_error *error) {
    (void)error;
    leveldb_writebatch_clear(database->batch);
    return 0;
}

static int level_commit(baseline_database *database, baseline_error *error) {
    char *message = NULL;
    leveldb_write(database->handle, database->writing, database->batch, &message);
    return level_check(message, error);
}

static void level_roll_back(baseline_database *database) { leveldb_writebatch_clear(database->batch); }

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

// The index key of a stored row, or an empty key if there is no row.
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

// Replaces the index key of a row. The previous row may be in the same batch.
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

static int level_upsert(baseline_database *database, baseline_rows rows, baseline_error *error) {
    for (size_t index = 0; index < rows.count; index++) {
        baseline_entry entry = rows.entries[index];
        baseline_bytes id = {rows.buffer + entry.id, (size_t)entry.id_length};
        TRY(put_row(database, id, rows.buffer + entry.row, (size_t)entry.row_length, error));
    }
    return database->table->is_indexed ? replace_index_keys(database, rows, error) : 0;
}

static int level_enqueue(baseline_database *database, baseline_rows rows, baseline_error *error) {
    operation made;
    for (size_t index = 0; index < rows.count; index++) {
        baseline_entry entry = rows.entries[index];
        baseline_bytes id = {rows.buffer + entry.id, (size_t)entry.id_length};
        TRY(make_operation(&made, ++database->last_operation, id, error));
        leveldb_writebatch_put(
            database->batch, (const char *)made.key, sizeof made.key, (const char *)made.row, made.row_length);
        leveldb_writebatch_put(
            database->batch, (const char *)made.index_key, made.index_key_length, "", 0);
    }
    return 0;
}

// The list and the rank do not change, so the index does not change either.
static int level_change_text(
    baseline_database *database, baseline_bytes id, baseline_bytes text, bool reads, baseline_answer *answer,
    baseline_error *error) {
    uint8_t *row;
    size_t length;
    TRY(level_row(database, database->looking_up, id, &row, &length, error));
    if (!row) return 0;
    add_row(answer, reads ? row_number(id, row) : 0, 1);
    int result = put_text(&database->changed, row, &length, database->table->text, text, error);
    if (!result) result = put_row(database, id, database->changed.bytes, length, error);
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

static int level_delete_ids(
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

static int level_delete_list(
    baseline_database *database, baseline_bytes list, baseline_answer *answer, baseline_error *error) {
    bool is_indexed = database->table->is_indexed;
    leveldb_iterator_t *iterator =
        leveldb_create_iterator(database->handle, is_indexed ? database->looking_up : database->scanning);
    int result = is_indexed ? delete_by_index(database, iterator, list, answer, error)
                            : delete_by_rows(database, iterator, list, answer, error);
    return level_end(iterator, result, error);
}

// MARK: Token

static const char token_key[] = {TOKEN_MARK};

static int level_put_token(baseline_database *database, int64_t ticks, baseline_error *error) {
    (void)error;
    leveldb_writebatch_put(database->batch, token_key, sizeof token_key, (const char *)&ticks, sizeof ticks);
    return 0;
}

static int level_get_token(baseline_database *database, int64_t *ticks, baseline_error *error) {
    char *message = NULL;
    size_t length = 0;
    char *value = leveldb_get(
        database->handle, database->looking_up, token_key, sizeof token_key, &length, &message);
    *ticks = length == sizeof *ticks ? (int64_t)load_64((const uint8_t *)value) : 0;
    if (value) leveldb_free(value);
    return level_check(message, error);
}

// MARK: Opening and closing

// The same settings and checks as in the adapter.
static void make_options(baseline_database *database, baseline_durability durability) {
    database->options = leveldb_options_create();
    database->cache = leveldb_cache_create_lru(64 << 20);
    database->filter = leveldb_filterpolicy_create_bloom(10);
    leveldb_options_set_create_if_missing(database->options, 1);
    leveldb_options_set_paranoid_checks(database->options, 1);
    leveldb_options_set_cache(database->options, database->cache);
    leveldb_options_set_filter_policy(database->options, database->filter);
    leveldb_options_set_write_buffer_size(database->options, 16 << 20);
    leveldb_options_set_compression(database->options, leveldb_snappy_compression);
    database->writing = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(database->writing, durability == BASELINE_FULL);
    database->looking_up = level_make_reading(true);
    database->scanning = level_make_reading(false);
    database->batch = leveldb_writebatch_create();
}

static int close_database(baseline_database *database, baseline_error *error) {
    (void)error;
    if (database->handle) leveldb_close(database->handle);
    leveldb_options_destroy(database->options);
    leveldb_cache_destroy(database->cache);
    leveldb_filterpolicy_destroy(database->filter);
    leveldb_writeoptions_destroy(database->writing);
    leveldb_readoptions_destroy(database->looking_up);
    leveldb_readoptions_destroy(database->scanning);
    leveldb_writebatch_destroy(database->batch);
    free(database->changed.bytes);
    free(database);
    return 0;
}

// Reads the number of the newest operation, whose key is the last before that of the index by row.
static int find_last_operation(baseline_database *database, baseline_error *error) {
    leveldb_iterator_t *iterator = leveldb_create_iterator(database->handle, database->looking_up);
    leveldb_iter_seek(iterator, "p", 1);
    if (leveldb_iter_valid(iterator)) {
        leveldb_iter_prev(iterator);
    } else {
        leveldb_iter_seek_to_last(iterator);
    }
    if (leveldb_iter_valid(iterator)) {
        baseline_bytes key = level_key(iterator);
        if (key.length == 9 && key.start[0] == 'o') database->last_operation = operation_number(key.start + 1);
    }
    return level_end(iterator, 0, error);
}

static int open_folder(
    const char *folder, const baseline_table *table, baseline_durability durability, baseline_database **opened,
    baseline_error *error) {
    baseline_database *database = calloc(1, sizeof *database);
    if (!database) return fail_for_memory(error);
    database->table = table;
    make_options(database, durability);
    char *message = NULL;
    database->handle = leveldb_open(database->options, folder, &message);
    if (level_check(message, error) || find_last_operation(database, error)) {
        close_database(database, error);
        return 1;
    }
    *opened = database;
    return 0;
}

static int compact(const char *folder, baseline_error *error) {
    leveldb_options_t *options = leveldb_options_create();
    // The same options as in the adapter, so that the tables have the same format.
    leveldb_filterpolicy_t *filter = leveldb_filterpolicy_create_bloom(10);
    leveldb_options_set_filter_policy(options, filter);
    leveldb_options_set_paranoid_checks(options, 1);
    char *message = NULL;
    leveldb_t *handle = leveldb_open(options, folder, &message);
    int result = level_check(message, error);
    if (!result) {
        leveldb_compact_range(handle, NULL, 0, NULL, 0);
        leveldb_close(handle);
    }
    leveldb_options_destroy(options);
    leveldb_filterpolicy_destroy(filter);
    return result;
}

static const char *version(void) {
    static char text[32];
    snprintf(text, sizeof text, "%d.%d", leveldb_major_version(), leveldb_minor_version());
    return text;
}

static const baseline_engine engine = {
    .version = version,
    .open = open_folder,
    .close = close_database,
    ENGINE_FUNCTIONS(level),
    .compact = compact,
};

const baseline_engine *baseline_engine_leveldb(void) { return &engine; }
