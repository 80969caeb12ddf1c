// How errors are told.
#ifndef TIDELINE_BASELINES_FAILURE_H
#define TIDELINE_BASELINES_FAILURE_H

#include <stdio.h>

#include "baselines.h"

static inline int fail(baseline_error *error, const char *doing, const char *reason) {
    snprintf(error->text, sizeof error->text, "%s: %s", doing, reason);
    return 1;
}

static inline int fail_for_memory(baseline_error *error) { return fail(error, "memory", "there is not enough"); }

// Passes a failure on.
#define TRY(call)         \
    do {                  \
        if (call) return 1; \
    } while (0)

#endif
