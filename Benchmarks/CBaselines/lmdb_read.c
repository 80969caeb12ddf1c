// LMDB: what reads rows, where they lie in the map.
#include <stdlib.h>

#include "best_rows.h"
#include "lmdb_baseline.h"

static int open_reader(baseline_reader *reader, baseline_error *error) {
    const baseline_database *database = reader->database;
    TRY(lmdb_check(mdb_txn_begin(database->environment, NULL, MDB_RDONLY, &reader->transaction), error));
    TRY(lmdb_check(mdb_cursor_open(reader->transaction, database->rows, &reader->rows), error));
    TRY(lmdb_check(mdb_cursor_open(reader->transaction, database->index, &reader->index), error));
    mdb_txn_reset(reader->transaction);
    return 0;
}

int lmdb_make_reader(baseline_database *database, baseline_reader **made, baseline_error *error) {
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

void lmdb_destroy_reader(baseline_reader *reader) {
    if (reader->rows) mdb_cursor_close(reader->rows);
    if (reader->index) mdb_cursor_close(reader->index);
    if (reader->transaction) mdb_txn_abort(reader->transaction);
    free(reader);
}

int lmdb_begin_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    (void)is_single;
    return lmdb_check(mdb_txn_renew(reader->transaction), error);
}

int lmdb_end_reading(baseline_reader *reader, bool is_single, baseline_error *error) {
    (void)is_single, (void)error;
    mdb_txn_reset(reader->transaction);
    return 0;
}

int lmdb_get(baseline_reader *reader, baseline_bytes id, baseline_answer *answer, baseline_error *error) {
    MDB_val key = lmdb_value(id.start, id.length), row;
    int result = mdb_get(reader->transaction, reader->database->rows, &key, &row);
    if (result == MDB_SUCCESS) add_row(answer, row_number(id, row.mv_data), 1);
    return result == MDB_SUCCESS || result == MDB_NOTFOUND ? 0 : lmdb_fail(result, error);
}

int lmdb_scan(
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

// Goes over the keys of a list, and reads the rows when `reads`.
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

// Goes over all rows, offers those of a list where `best` is not null, and counts them.
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

int lmdb_find(
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

int lmdb_count(baseline_reader *reader, baseline_bytes list, baseline_answer *answer, baseline_error *error) {
    if (reader->database->table->is_indexed) return walk_index(reader, list, SIZE_MAX, false, answer, error);
    return walk_rows(reader, list, NULL, &answer->count, error);
}
