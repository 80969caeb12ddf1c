// LMDB, and what of the system Swift cannot import alike on every platform.
#ifndef TIDELINE_CLMDB_SHIM_H
#define TIDELINE_CLMDB_SHIM_H

#include <lmdb.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/file.h>

// The calling thread, as a number that no other thread has while it lives.
static inline uintptr_t tideline_lmdb_current_thread(void) { return (uintptr_t)pthread_self(); }

// Swift sees `flock` as a type and as a function by turns.
static inline int tideline_lmdb_flock(int file, int operation) { return flock(file, operation); }

#endif
