// LevelDB, with wrappers for variadic system functions that Swift cannot import.
#ifndef TIDELINE_CLEVELDB_SHIM_H
#define TIDELINE_CLEVELDB_SHIM_H

#if !__has_include(<leveldb/c.h>)
#error "LevelDB is not installed: run `make dependencies`, or install libleveldb-dev (Debian, Ubuntu) or leveldb (Homebrew)"
#endif

#include <errno.h>
#include <fcntl.h>
#include <leveldb/c.h>
#include <string.h>
#include <sys/file.h>

// Opens a file for reading and writing, and creates it if it does not exist. Returns -1 and sets errno on failure.
static inline int tideline_open_lock(const char *path) {
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
}

// Locks a whole file for this process, as LevelDB does. Returns 0 or the error number.
static inline int tideline_lock(int file) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(file, F_SETLK, &lock) == 0 ? 0 : errno;
}

// Changes the lock of an open file or folder, which no other descriptor of it releases. Returns 0 or the error number.
static inline int tideline_flock(int file, int operation) { return flock(file, operation) == 0 ? 0 : errno; }

#endif
