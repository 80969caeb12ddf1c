#include "best_rows.h"

#include <stdlib.h>

#include "rows.h"

enum { MAXIMUM_ID = 1020 };

struct best_row {
    int64_t rank;
    // The row number, computed when the row is added, because its bytes do not remain valid.
    uint64_t number;
    size_t id_length;
    uint8_t id[MAXIMUM_ID];
};

int best_rows_make(best_rows *best, size_t limit, baseline_error *error) {
    size_t count = limit ? limit : 1;
    *best = (best_rows){
        .rows = calloc(count, sizeof(best_row)), .heap = calloc(count, sizeof(best_row *)), .limit = limit,
    };
    if (best->rows && best->heap) return 0;
    best_rows_destroy(best);
    return fail_for_memory(error);
}

void best_rows_destroy(best_rows *best) {
    free(best->rows);
    free(best->heap);
}

static int compare(int64_t rank, baseline_bytes id, const best_row *row) {
    if (rank != row->rank) return rank < row->rank ? -1 : 1;
    return compare_bytes(id, (baseline_bytes){row->id, row->id_length});
}

static bool comes_later(const best_row *a, const best_row *b) {
    return compare(a->rank, (baseline_bytes){a->id, a->id_length}, b) > 0;
}

static void swap(best_row **a, best_row **b) {
    best_row *row = *a;
    *a = *b;
    *b = row;
}

static void sift_up(best_rows *best, size_t place) {
    while (place > 0 && comes_later(best->heap[place], best->heap[(place - 1) / 2])) {
        swap(&best->heap[place], &best->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
}

static void sift_down(best_rows *best, size_t place) {
    while (true) {
        size_t last = place;
        for (size_t child = 2 * place + 1; child <= 2 * place + 2 && child < best->count; child++) {
            if (comes_later(best->heap[child], best->heap[last])) last = child;
        }
        if (last == place) return;
        swap(&best->heap[place], &best->heap[last]);
        place = last;
    }
}

int best_rows_offer(
    best_rows *best, const uint8_t *row, baseline_bytes id, const baseline_table *table, baseline_error *error) {
    int64_t rank = row_rank(row, table);
    bool is_full = best->count == best->limit;
    if (is_full && (best->limit == 0 || compare(rank, id, best->heap[0]) > 0)) return 0;
    if (id.length > MAXIMUM_ID) return fail(error, "query", "an id is too long");
    best_row *place = is_full ? best->heap[0] : &best->rows[best->count];
    place->rank = rank;
    place->number = row_number(id, row);
    place->id_length = id.length;
    memcpy(place->id, id.start, id.length);
    if (is_full) {
        sift_down(best, 0);
    } else {
        best->heap[best->count++] = place;
        sift_up(best, best->count - 1);
    }
    return 0;
}

void best_rows_take(best_rows *best, baseline_answer *answer) {
    while (best->count > 0) {
        add_row(answer, best->heap[0]->number, best->count);
        best->heap[0] = best->heap[--best->count];
        sift_down(best, 0);
    }
}
