// LMDB: opening, closing, and what makes the engine of its parts.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lmdb_baseline.h"

// Address space, which costs nothing: what the adapter begins with, and enough for ten million rows.
static const size_t map_size = sizeof(void *) > 4 ? (size_t)1 << 34 : (size_t)1 << 28;

static int open_spaces(baseline_database *database, baseline_error *error) {
    MDB_txn *transaction = NULL;
    TRY(lmdb_check(mdb_txn_begin(database->environment, NULL, 0, &transaction), error));
    int result = mdb_dbi_open(transaction, "rows", MDB_CREATE, &database->rows);
    if (!result) result = mdb_dbi_open(transaction, "index", MDB_CREATE, &database->index);
    if (!result) result = mdb_dbi_open(transaction, "config", MDB_CREATE, &database->config);
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
    TRY(lmdb_check(mdb_env_set_maxdbs(database->environment, 3), error));
    TRY(lmdb_check(mdb_env_open(database->environment, folder, flags, 0644), error));
    return open_spaces(database, error);
}

static int close_environment(baseline_database *database, baseline_error *error) {
    (void)error;
    if (database->environment) mdb_env_close(database->environment);
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
    if (open_environment(database, folder, durability, error)) {
        close_environment(database, error);
        return 1;
    }
    *opened = database;
    return 0;
}

// LMDB copies the environment to another file, which takes the place of the first.
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
    .begin = lmdb_begin,
    .commit = lmdb_commit,
    .roll_back = lmdb_roll_back,
    .upsert = lmdb_upsert,
    .change_text = lmdb_change_text,
    .delete_ids = lmdb_delete_ids,
    .delete_list = lmdb_delete_list,
    .put_token = lmdb_put_token,
    .get_token = lmdb_get_token,
    .make_reader = lmdb_make_reader,
    .destroy_reader = lmdb_destroy_reader,
    .begin_reading = lmdb_begin_reading,
    .end_reading = lmdb_end_reading,
    .get = lmdb_get,
    .scan = lmdb_scan,
    .find = lmdb_find,
    .count = lmdb_count,
    .compact = compact,
};

const baseline_engine *baseline_engine_lmdb(void) { return &engine; }
