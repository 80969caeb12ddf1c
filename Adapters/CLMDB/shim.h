// LMDB, and what of the system Swift cannot import alike on every platform.
#ifndef TIDELINE_CLMDB_SHIM_H
#define TIDELINE_CLMDB_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>

// The calling thread, as a number that no other thread has while it lives.
static inline uintptr_t tideline_lmdb_current_thread(void) { return (uintptr_t)pthread_self(); }

// Swift sees `flock` as a type and as a function by turns.
static inline int tideline_lmdb_flock(int file, int operation) { return flock(file, operation); }

// Takes the lock of `lock.mdb` that every process with the environment open shares; 0, or the error number.
static inline int tideline_lmdb_lock_out(int file) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    return fcntl(file, F_SETLK, &lock) == 0 ? 0 : errno;
}

#endif
