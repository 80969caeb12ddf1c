// A function with a fixed name that marks the work whose instructions valgrind counts.
#ifndef TIDELINE_MEASURED_H
#define TIDELINE_MEASURED_H

// Only calls work(context): `valgrind --tool=callgrind --toggle-collect=tideline_measured` counts this call on its thread.
void tideline_measured(void (*work)(void *), void *context);

// Starts instrumentation and calls tideline_measured(), for valgrind with --instr-atstart=no, which runs the uninstrumented part
// fifty times faster. Without valgrind it is a plain call.
void tideline_measure(void (*work)(void *), void *context);

// Whether the program was built with valgrind's headers, which tideline_measure() needs to start counting.
int tideline_can_measure(void);

#endif
