#include "id_set.h"

#include <stdlib.h>

#include "failure.h"
#include "rows.h"

int id_set_make(id_set *set, size_t count, baseline_error *error) {
    size_t room = 16;
    while (room < 2 * count) room *= 2;
    set->mask = room - 1;
    set->slots = calloc(room, sizeof *set->slots);
    return set->slots ? 0 : fail_for_memory(error);
}

void id_set_destroy(id_set *set) { free(set->slots); }

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

id_slot *id_set_find(id_set *set, baseline_bytes id) {
    size_t place = hash(id) & set->mask;
    while (set->slots[place].id.start && !bytes_are_equal(set->slots[place].id, id)) place = (place + 1) & set->mask;
    return &set->slots[place];
}
