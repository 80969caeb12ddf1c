// LMDB, with wrappers for system calls that Swift does not import the same way on every platform.
#ifndef TIDELINE_CLMDB_SHIM_H
#define TIDELINE_CLMDB_SHIM_H

#if !__has_include(<lmdb.h>)
#error "LMDB is not installed: run `make dependencies`, or install liblmdb-dev (Debian, Ubuntu) or lmdb (Homebrew)"
#endif

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>

// On some platforms, Swift sees `flock` only as a type, on others as a function.
static inline int tideline_lmdb_flock(int file, int operation) { return flock(file, operation); }

// Takes the lock of `lock.mdb` that every process with the environment open shares. Returns 0 or the error number.
static inline int tideline_lmdb_lock_out(int file) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    return fcntl(file, F_SETLK, &lock) == 0 ? 0 : errno;
}

#endif
