// Which ids a write has met: LevelDB does not see the changes of a batch that is not written yet.
#ifndef TIDELINE_BASELINES_ID_SET_H
#define TIDELINE_BASELINES_ID_SET_H

#include "baselines.h"

typedef struct {
    baseline_bytes id;
    // Which of the write's rows the id was met with last.
    size_t position;
} id_slot;

typedef struct {
    id_slot *slots;
    size_t mask;
} id_set;

int id_set_make(id_set *set, size_t count, baseline_error *error);
void id_set_destroy(id_set *set);
// The slot of an id, which has no id yet when it is new.
id_slot *id_set_find(id_set *set, baseline_bytes id);

#endif
