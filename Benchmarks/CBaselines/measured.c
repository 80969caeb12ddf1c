#include "baselines.h"

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#endif

// Not inlined, renamed or left by a tail call, so that valgrind sees its start and end.
__attribute__((noinline, used, visibility("default")))
void tideline_measured(void (*work)(void *), void *context) {
    work(context);
    __asm__ volatile("" ::: "memory");
}

#ifdef CALLGRIND_START_INSTRUMENTATION
void tideline_measure(void (*work)(void *), void *context) {
    CALLGRIND_START_INSTRUMENTATION;
    tideline_measured(work, context);
    CALLGRIND_STOP_INSTRUMENTATION;
}

int tideline_can_measure(void) { return 1; }
#else
void tideline_measure(void (*work)(void *), void *context) { tideline_measured(work, context); }

int tideline_can_measure(void) { return 0; }
#endif
