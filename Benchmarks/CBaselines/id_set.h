// The identifiers of a batch, each with the position of its last row.
#ifndef TIDELINE_BASELINES_ID_SET_H
#define TIDELINE_BASELINES_ID_SET_H

#include "rows.h"

typedef struct {
    baseline_bytes id;
    // The position of the last row with this identifier.
    size_t position;
} id_slot;

typedef struct {
    id_slot *slots;
    size_t mask;
} id_set;

static inline int id_set_make(id_set *set, size_t count, baseline_error *error) {
    size_t room = 16;
    while (room < 2 * count) room *= 2;
    set->mask = room - 1;
    set->slots = calloc(room, sizeof *set->slots);
    return set->slots ? 0 : fail_for_memory(error);
}

static inline void id_set_destroy(id_set *set) { free(set->slots); }

static inline uint64_t id_hash(baseline_bytes id) {
    uint64_t state = id.length;
    size_t offset = 0;
    for (; offset + 8 <= id.length; offset += 8) {
        state = (state ^ load_64(id.start + offset)) * 0x9E3779B97F4A7C15;
        state ^= state >> 32;
    }
    for (; offset < id.length; offset++) state = (state ^ id.start[offset]) * 0x9E3779B97F4A7C15;
    return state ^ state >> 29;
}

static inline id_slot *id_set_find(id_set *set, baseline_bytes id) {
    size_t place = id_hash(id) & set->mask;
    while (set->slots[place].id.start && !bytes_are_equal(set->slots[place].id, id)) place = (place + 1) & set->mask;
    return &set->slots[place];
}

#endif
