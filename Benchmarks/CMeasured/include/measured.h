// What a counter of instructions goes by: a function of fixed name around the work that is counted.
#ifndef TIDELINE_MEASURED_H
#define TIDELINE_MEASURED_H

// Calls work(context), and nothing else: `valgrind --tool=callgrind --toggle-collect=tideline_measured` counts this call
// on its thread.
void tideline_measured(void (*work)(void *), void *context);

// The same, where valgrind runs with --instr-atstart=no, which is fifty times faster than counting: it begins to look at
// instructions here. Without valgrind it is a plain call.
void tideline_measure(void (*work)(void *), void *context);

// Whether the program was built where valgrind's headers are: without them tideline_measure() cannot begin to count.
int tideline_can_measure(void);

#endif
