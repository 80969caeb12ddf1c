// LevelDB: opening, closing, and what makes the engine of its parts.
#include <stdlib.h>

#include "leveldb_baseline.h"

// The settings of the adapter, and its checks of what is read from the disk.
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

leveldb_readoptions_t *level_make_reading(bool fills_cache) {
    leveldb_readoptions_t *options = leveldb_readoptions_create();
    leveldb_readoptions_set_verify_checksums(options, 1);
    leveldb_readoptions_set_fill_cache(options, fills_cache);
    return options;
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
    free(database->scratch);
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
    // As the adapter has them, so that the tables are as it would write them.
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
    .begin = level_begin,
    .commit = level_commit,
    .roll_back = level_roll_back,
    .upsert = level_upsert,
    .change_text = level_change_text,
    .delete_ids = level_delete_ids,
    .delete_list = level_delete_list,
    .put_token = level_put_token,
    .get_token = level_get_token,
    .make_reader = level_make_reader,
    .destroy_reader = level_destroy_reader,
    .begin_reading = level_begin_reading,
    .end_reading = level_end_reading,
    .get = level_get,
    .scan = level_scan,
    .find = level_find,
    .count = level_count,
    .compact = compact,
};

const baseline_engine *baseline_engine_leveldb(void) { return &engine; }
