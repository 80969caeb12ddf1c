// The baseline for LevelDB.
#include <leveldb/c.h>
#include <stdlib.h>

#include "best_rows.h"
#include "index_key.h"
#include "rows.h"

enum { ROW_MARK = 'r', TOKEN_MARK = 't', MAXIMUM_ROW_KEY = 1024 };

struct baseline_database {
    const baseline_table *table;
    leveldb_t *handle;
    leveldb_options_t *options;
    leveldb_cache_t *cache;
    leveldb_filterpolicy_t *filter;
    leveldb_writeoptions_t *writing;
    // Options for reads that fill the cache, and for long scans that would evict it.
    leveldb_readoptions_t *looking_up, *scanning;
    leveldb_writebatch_t *batch;
    row_buffer changed;
};

struct baseline_reader {
    const baseline_database *database;
    const leveldb_snapshot_t *snapshot;
    leveldb_readoptions_t *looking_up, *scanning;
};

typedef struct {
    uint8_t bytes[MAXIMUM_ROW_KEY];
    size_t length;
} row_key;

static inline int make_row_key(row_key *key, baseline_bytes id, baseline_error *error) {
    if (id.length + 1 > sizeof key->bytes) return fail(error, "LevelDB", "an id is too long");
    key->bytes[0] = ROW_MARK;
    memcpy(key->bytes + 1, id.start, id.length);
    key->length = id.length + 1;
    return 0;
}

// Reports and frees an error message.
static inline int level_check(char *message, baseline_error *error) {
    if (!message) return 0;
    fail(error, "LevelDB", message);
    leveldb_free(message);
    return 1;
}

// Reads the row of an id, to be freed by the caller; null if there is none.
static inline int level_row(
    const baseline_database *database, const leveldb_readoptions_t *options, baseline_bytes id, uint8_t **row,
    size_t *length, baseline_error *error) {
    row_key key;
    char *message = NULL;
    if (make_row_key(&key, id, error)) return 1;
    *row = (uint8_t *)leveldb_get(
        database->handle, options, (const char *)key.bytes, key.length, length, &message);
    return level_check(message, error);
}

static inline baseline_bytes level_key(const leveldb_iterator_t *iterator) {
    baseline_bytes key;
    key.start = (const uint8_t *)leveldb_iter_key(iterator, &key.length);
    return key;
}

static inline const uint8_t *level_value(const leveldb_iterator_t *iterator, size_t *length) {
    return (const uint8_t *)leveldb_iter_value(iterator, length);
}

static inline bool level_is_at_row(const leveldb_iterator_t *iterator) {
    return leveldb_iter_valid(iterator) && level_key(iterator).start[0] == ROW_MARK;
}

static inline baseline_bytes level_row_id(const leveldb_iterator_t *iterator) {
    baseline_bytes key = level_key(iterator);
    return (baseline_bytes){key.start + 1, key.length - 1};
}

static inline bool level_is_in_list(const leveldb_iterator_t *iterator, const index_key *list) {
    if (!leveldb_iter_valid(iterator)) return false;
    baseline_bytes key = level_key(iterator);
    return key.length >= list->length && memcmp(key.start, list->bytes, list->length) == 0;
}

static inline baseline_bytes level_indexed_id(const leveldb_iterator_t *iterator, const index_key *list) {
    baseline_bytes key = level_key(iterator);
    return indexed_id(key.start, key.length, list->length);
}

// Destroys an iterator and reports its error, which LevelDB keeps until the end.
static inline int level_end(leveldb_iterator_t *iterator, baseline_error *error) {
    char *message = NULL;
    leveldb_iter_get_error(iterator, &message);
    leveldb_iter_destroy(iterator);
    return level_check(message, error);
}

static leveldb_readoptions_t *level_make_reading(bool fills_cache) {
    leveldb_readoptions_t *options = leveldb_readoptions_create();
    leveldb_readoptions_set_verify_checksums(options, 1);
    leveldb_readoptions_set_fill_cache(options, fills_cache);
    return options;
}

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
    return level_end(iterator, error);
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
    baseline_error ending;
    int ended = level_end(iterator, result ? &ending : error);
    return result | ended;
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
    baseline_error ending;
    int ended = level_end(iterator, result ? &ending : error);
    return result | ended;
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

// MARK: Identifiers of a batch


typedef struct {
    baseline_bytes id;
    // The position of the last row with this identifier.
    size_t position;
} id_slot;

typedef struct {
    id_slot *slots;
    size_t mask;
} id_set;

static int id_set_make(id_set *set, size_t count, baseline_error *error) {
    size_t room = 16;
    while (room < 2 * count) room *= 2;
    set->mask = room - 1;
    set->slots = calloc(room, sizeof *set->slots);
    return set->slots ? 0 : fail_for_memory(error);
}

static void id_set_destroy(id_set *set) { free(set->slots); }

static uint64_t hash(baseline_bytes id) {
    uint64_t state = id.length;
    size_t offset = 0;
    for (; offset + 8 <= id.length; offset += 8) {
        state = (state ^ load_64(id.start + offset)) * 0x9E3779B97F4A7C15;
        state ^= state >> 32;
    }
    for (; offset < id.length; offset++) state = (state ^ id.start[offset]) * 0x9E3779B97F4A7C15;
    return state ^ state >> 29;
}

static id_slot *id_set_find(id_set *set, baseline_bytes id) {
    size_t place = hash(id) & set->mask;
    while (set->slots[place].id.start && !bytes_are_equal(set->slots[place].id, id)) place = (place + 1) & set->mask;
    return &set->slots[place];
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
    baseline_error ending;
    int ended = level_end(iterator, result ? &ending : error);
    return result | ended;
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

static int open_folder(
    const char *folder, const baseline_table *table, baseline_durability durability, baseline_database **opened,
    baseline_error *error) {
    baseline_database *database = calloc(1, sizeof *database);
    if (!database) return fail_for_memory(error);
    database->table = table;
    make_options(database, durability);
    char *message = NULL;
    database->handle = leveldb_open(database->options, folder, &message);
    if (level_check(message, error)) {
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
