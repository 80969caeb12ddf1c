// Selects the first rows by rank and id from rows in another order.
#ifndef TIDELINE_BASELINES_BEST_ROWS_H
#define TIDELINE_BASELINES_BEST_ROWS_H

#include "baselines.h"

typedef struct best_row best_row;

typedef struct {
    best_row *rows;
    // A heap with the last of the rows on top.
    best_row **heap;
    size_t count;
    size_t limit;
} best_rows;

int best_rows_make(best_rows *best, size_t limit, baseline_error *error);
void best_rows_destroy(best_rows *best);
// Adds a row if it is among the first; its bytes need not remain valid.
int best_rows_offer(
    best_rows *best, const uint8_t *row, baseline_bytes id, const baseline_table *table, baseline_error *error);
// Adds the rows to an answer in order and empties the selection.
void best_rows_take(best_rows *best, baseline_answer *answer);

#endif
