// SQLite, with wrappers for the parts of its interface that Swift cannot import: casting macros and variadic functions.
#ifndef TIDELINE_CSQLITE_SHIM_H
#define TIDELINE_CSQLITE_SHIM_H

#if !__has_include(<sqlite3.h>)
#error "SQLite is not installed: run `make dependencies`, or install libsqlite3-dev (Debian, Ubuntu) or sqlite (Homebrew)"
#endif

#include <sqlite3.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A null pointer would bind NULL. An empty Swift buffer can have a null base address, but an empty text is not null.
static inline const void *tideline_nonnull(const void *bytes) { return bytes ? bytes : ""; }

// Binds bytes that the caller keeps in place until the statement is reset.
static inline int tideline_bind_static_text(sqlite3_stmt *statement, int index, const void *bytes, uint64_t count) {
    return sqlite3_bind_text64(
        statement, index, (const char *)tideline_nonnull(bytes), count, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int tideline_bind_static_blob(sqlite3_stmt *statement, int index, const void *bytes, uint64_t count) {
    return sqlite3_bind_blob64(statement, index, tideline_nonnull(bytes), count, SQLITE_STATIC);
}

// Binds a copy of bytes.
static inline int tideline_bind_text(sqlite3_stmt *statement, int index, const void *bytes, uint64_t count) {
    return sqlite3_bind_text64(
        statement, index, (const char *)tideline_nonnull(bytes), count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int tideline_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, uint64_t count) {
    return sqlite3_bind_blob64(statement, index, tideline_nonnull(bytes), count, SQLITE_TRANSIENT);
}

// Sets the result of an SQL function to a copy of the bytes, as text.
static inline void tideline_result_text(sqlite3_context *context, const void *bytes, uint64_t count) {
    sqlite3_result_text64(
        context, (const char *)tideline_nonnull(bytes), count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// Applies settings for an untrusted database file: SQL stored in the file runs only as far as its tables need, SQL text
// of this adapter cannot damage the file, and a double-quoted name is never read as a string.
static inline int tideline_harden(sqlite3 *database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
    return code;
}

// Busy handler: waits for a lock held by another connection, up to the timeout in milliseconds. It polls every two milliseconds, then more
// often the longer it waits.
//
// SQLite's own handler ends up polling every 100 milliseconds. Connections that write without a pause, and sync each
// commit, release the lock for only a few microseconds at a time. A writer that polls that rarely can miss every gap.
static inline int tideline_wait_for_lock(void *timeout, int count) {
    // A thread waits for one lock at a time, and the count starts at 0 for each.
    static _Thread_local struct timespec start;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (count == 0) start = now;
    int64_t waited = (int64_t)(now.tv_sec - start.tv_sec) * 1000000 + (now.tv_nsec - start.tv_nsec) / 1000;
    if (waited >= (int64_t)(intptr_t)timeout * 1000) return 0;
    // SQLite signals no release of a lock to other connections, so the thread sleeps between two tries.
    usleep(waited < 250000 ? 2000 : waited < 1000000 ? 200 : 20);
    return 1;
}

// Keeps the write-ahead log in place and unchanged when the connection is closed.
static inline int tideline_leave_log(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// Returns the file of a connection. The file is read through SQLite's own handle: when a process closes any handle of a
// file, it loses the locks that all its connections hold on it.
static inline sqlite3_file *tideline_file(sqlite3 *database) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(database, 0, SQLITE_FCNTL_FILE_POINTER, &file);
    return code == SQLITE_OK && file && file->pMethods ? file : 0;
}

// Returns a number that changes with every change of the database that this connection has made or has seen at the
// start of a transaction.
static inline uint32_t tideline_data_version(sqlite3 *database) {
    unsigned version = 0;
    // Without a name, this is the main database, which always exists.
    sqlite3_file_control(database, 0, SQLITE_FCNTL_DATA_VERSION, &version);
    return version;
}

// Reads bytes of the database file. Bytes beyond the end are zeros, with the result SQLITE_IOERR_SHORT_READ.
static inline int tideline_read_file(sqlite3 *database, void *bytes, int count, int64_t offset) {
    sqlite3_file *file = tideline_file(database);
    return file ? file->pMethods->xRead(file, bytes, count, offset) : SQLITE_CANTOPEN;
}

static inline int tideline_file_size(sqlite3 *database, sqlite3_int64 *size) {
    sqlite3_file *file = tideline_file(database);
    return file ? file->pMethods->xFileSize(file, size) : SQLITE_CANTOPEN;
}

// Returns whether the file was removed, renamed, or replaced since it was opened.
static inline int tideline_has_moved(sqlite3 *database) {
    int has_moved = 0;
    int code = sqlite3_file_control(database, 0, SQLITE_FCNTL_HAS_MOVED, &has_moved);
    return code == SQLITE_OK && has_moved;
}

// Writes a warning to SQLite's error log.
static inline void tideline_log_warning(const char *message) { sqlite3_log(SQLITE_WARNING, "%s", message); }

// Locks out every other connection, in this process and others, until this one is closed. Returns SQLITE_BUSY if
// another connection holds a lock.
static inline int tideline_lock_file(sqlite3 *database) {
    sqlite3_file *file = tideline_file(database);
    if (!file) return SQLITE_CANTOPEN;
    int code = file->pMethods->xLock(file, 1);            // SQLITE_LOCK_SHARED
    return code == SQLITE_OK ? file->pMethods->xLock(file, 4) : code;  // SQLITE_LOCK_EXCLUSIVE
}

// Returns the index of the first byte that differs between two words loaded from memory, which must differ.
static inline int tideline_first_difference(uint64_t a, uint64_t b) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_ctzll(a ^ b) >> 3;
#else
    return __builtin_clzll(a ^ b) >> 3;
#endif
}

static inline int tideline_folded(unsigned char byte) { return (unsigned)byte - 'A' < 26 ? byte | 0x20 : byte; }

// A collation that compares bytes with A to Z folded to a to z; a prefix comes first.
//
// Written in C because SQLite calls it about a dozen times in each search for an id, and C avoids the call into Swift.
// Equal bytes are skipped eight or four at a time, up to the first difference. Reads stay within the shorter of the
// two.
static inline int tideline_compare_folded(
    void *context, int left_count, const void *left, int right_count, const void *right) {
    const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
    int count = left_count < right_count ? left_count : right_count;
    (void)context;
    for (int place = 0; place < count; place++) {
        if (count - place >= 8) {
            uint64_t x, y;
            memcpy(&x, a + place, sizeof x);
            memcpy(&y, b + place, sizeof y);
            if (x == y) {
                place += 7;
                continue;
            }
            place += tideline_first_difference(x, y);
        } else if (count - place >= 4 && memcmp(a + place, b + place, 4) == 0) {
            place += 3;
            continue;
        }
        int difference = tideline_folded(a[place]) - tideline_folded(b[place]);
        if (difference) return difference;
    }
    return left_count - right_count;
}

#endif
