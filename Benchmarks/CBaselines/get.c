// Reads by identifier with latencies, for all engines.
#include <time.h>

#include "baselines.h"
#include "rows.h"

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int get_alone(const baseline_gets *gets, baseline_bytes id, baseline_answer *answer, baseline_error *error) {
    TRY(gets->engine->begin_reading(gets->reader, true, error));
    int result = gets->engine->get(gets->reader, id, answer, error);
    baseline_error ending;
    int ended = gets->engine->end_reading(gets->reader, true, result ? &ending : error);
    return result | ended;
}

int baseline_get(
    baseline_gets *gets, const baseline_bytes *ids, size_t count, baseline_answer *answer, baseline_error *error) {
    gets->time_count = 0;
    for (size_t index = 0; index < count; index++) {
        if (gets->is_each) {
            uint64_t start = now();
            TRY(get_alone(gets, ids[index], answer, error));
            gets->times[gets->time_count++] = now() - start;
        } else if ((gets->first + index) % gets->sampling == 0) {
            uint64_t start = now();
            TRY(gets->engine->get(gets->reader, ids[index], answer, error));
            gets->times[gets->time_count++] = now() - start;
        } else {
            TRY(gets->engine->get(gets->reader, ids[index], answer, error));
        }
    }
    gets->first += count;
    return 0;
}
