// What the parts of the baseline on LMDB share.
#ifndef TIDELINE_BASELINES_LMDB_BASELINE_H
#define TIDELINE_BASELINES_LMDB_BASELINE_H

#include <lmdb.h>

#include "baselines.h"
#include "failure.h"
#include "index_key.h"
#include "rows.h"

struct baseline_database {
    const baseline_table *table;
    MDB_env *environment;
    // The rows by id; keys without values that lead from list and rank to ids; the token.
    MDB_dbi rows, index, config;
    MDB_txn *writing;
    // Where a row is put together whose text changes.
    uint8_t *scratch;
    size_t capacity;
};

// A transaction that is reset and renewed, with its cursors.
struct baseline_reader {
    const baseline_database *database;
    MDB_txn *transaction;
    MDB_cursor *rows, *index;
    bool is_fresh;
};

static inline int lmdb_fail(int result, baseline_error *error) { return fail(error, "LMDB", mdb_strerror(result)); }

// 0 for success, else the failure is told.
static inline int lmdb_check(int result, baseline_error *error) {
    return result == MDB_SUCCESS ? 0 : lmdb_fail(result, error);
}

// LMDB's type is the same for what it only reads.
static inline MDB_val lmdb_value(const void *start, size_t length) {
    return (MDB_val){.mv_size = length, .mv_data = (void *)start};
}

static inline baseline_bytes lmdb_bytes(MDB_val value) { return (baseline_bytes){value.mv_data, value.mv_size}; }

// The index has its own space and needs no mark.
static inline MDB_val lmdb_index_key(const index_key *key) { return lmdb_value(key->bytes + 1, key->length - 1); }

static inline bool lmdb_is_in_list(MDB_val key, const index_key *list) {
    return key.mv_size >= list->length - 1 && memcmp(key.mv_data, list->bytes + 1, list->length - 1) == 0;
}

static inline MDB_val lmdb_indexed_id(MDB_val key, const index_key *list) {
    baseline_bytes id = indexed_id(key.mv_data, key.mv_size, list->length - 1);
    return lmdb_value(id.start, id.length);
}

int lmdb_begin(baseline_database *database, baseline_error *error);
int lmdb_commit(baseline_database *database, baseline_error *error);
void lmdb_roll_back(baseline_database *database);
int lmdb_upsert(baseline_database *database, baseline_rows rows, baseline_error *error);
int lmdb_change_text(
    baseline_database *database, baseline_bytes id, baseline_bytes text, bool reads, baseline_answer *answer,
    baseline_error *error);
int lmdb_delete_ids(
    baseline_database *database, const baseline_bytes *ids, size_t count, baseline_answer *answer,
    baseline_error *error);
int lmdb_delete_list(
    baseline_database *database, baseline_bytes list, baseline_answer *answer, baseline_error *error);
int lmdb_put_token(baseline_database *database, int64_t ticks, baseline_error *error);
int lmdb_get_token(baseline_database *database, int64_t *ticks, baseline_error *error);

int lmdb_make_reader(baseline_database *database, baseline_reader **reader, baseline_error *error);
void lmdb_destroy_reader(baseline_reader *reader);
int lmdb_begin_reading(baseline_reader *reader, bool is_single, baseline_error *error);
int lmdb_end_reading(baseline_reader *reader, bool is_single, baseline_error *error);
int lmdb_get(baseline_reader *reader, baseline_bytes id, baseline_answer *answer, baseline_error *error);
int lmdb_scan(
    baseline_reader *reader, const baseline_bytes *from, size_t limit, baseline_answer *answer, baseline_error *error);
int lmdb_find(
    baseline_reader *reader, baseline_bytes list, size_t limit, baseline_answer *answer, baseline_error *error);
int lmdb_count(baseline_reader *reader, baseline_bytes list, baseline_answer *answer, baseline_error *error);

#endif
