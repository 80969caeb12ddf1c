// The calls by which a program changes files, defined here under their own names and passed on to the system's.
//
// The dynamic linker looks a name up in the executable first, and the static linker exports from it what the shared
// libraries beside it refer to. So whoever links this file has these in place of the C library's, in its own code and
// in all shared libraries. When nothing is observed, a call costs one look at an atomic number.
//
// Descriptors are not followed: their files are asked for when a call comes (`/proc/self/fd`), so that copies, inherited
// ones and renamed files need no book-keeping.
//
// Only for glibc, and not beside a sanitizer, which defines the same names.
#define _GNU_SOURCE
#include "file_calls.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#if defined(__linux__)
#include <features.h>
#endif
#include <stddef.h>

#if !defined(__GLIBC__) || defined(HAS_SANITIZER)

bool tideline_can_observe_files(void) { return false; }
void tideline_begin_observing_files(const tideline_file_observer *observer) { (void)observer; }
void tideline_end_observing_files(void) {}

#else

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The system's own function of a name.
#define NEXT(name)                                                           \
    ({                                                                       \
        static _Atomic(void *) known;                                        \
        void *function = atomic_load_explicit(&known, memory_order_relaxed); \
        if (!function) {                                                     \
            function = dlsym(RTLD_NEXT, #name);                              \
            atomic_store_explicit(&known, function, memory_order_relaxed);   \
        }                                                                    \
        (__typeof__(&name))function;                                         \
    })

// MARK: The observer

static _Atomic(const tideline_file_observer *) observer;
// How often observing was begun and not ended.
static atomic_int observations;
// Held from a decision to the end of the call.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
// Whether this thread is in a call that is observed: the observer's own calls pass.
static __thread bool is_inside;

bool tideline_can_observe_files(void) { return true; }

void tideline_begin_observing_files(const tideline_file_observer *common) {
    atomic_store(&observer, common);
    atomic_fetch_add(&observations, 1);
}

void tideline_end_observing_files(void) { atomic_fetch_sub(&observations, 1); }

static bool is_observed(void) {
    return atomic_load_explicit(&observations, memory_order_relaxed) > 0 && !is_inside;
}

// Asks the observer. When it watches the file, the lock is held until `leave`, so that calls are told of in the order in
// which they are made.
static bool enter(const tideline_file_call *call, tideline_file_decision *decision) {
    int error = errno;
    is_inside = true;
    pthread_mutex_lock(&mutex);
    *decision = atomic_load(&observer)->decide(call);
    if (!decision->is_watched) {
        pthread_mutex_unlock(&mutex);
        is_inside = false;
    }
    errno = error;
    return decision->is_watched;
}

static void leave(const tideline_file_call *call, bool has_succeeded) {
    int error = errno;
    if (has_succeeded) atomic_load(&observer)->performed(call);
    pthread_mutex_unlock(&mutex);
    is_inside = false;
    errno = error;
}

// A call that gives 0 or fails, as the observer decides: `perform` makes it.
#define DECIDED(call, perform)                                       \
    ({                                                               \
        tideline_file_decision decision;                             \
        int result;                                                  \
        if (!enter(&(call), &decision)) {                            \
            result = (perform);                                      \
        } else {                                                     \
            errno = decision.error;                                  \
            result = decision.error ? -1 : decision.is_skipped ? 0 : (perform); \
            leave(&(call), result == 0);                             \
        }                                                            \
        result;                                                      \
    })

// MARK: Files and their names

// The path of what a descriptor has open; false for what is no file and no folder.
static bool find_path(int descriptor, char path[PATH_MAX]) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0 || path[0] != '/') return false;
    path[length] = 0;
    return true;
}

// A call on what a descriptor has open.
static bool describe(int descriptor, tideline_file_call *call, char path[PATH_MAX]) {
    int error = errno;
    struct stat status;
    bool is_known = fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        && find_path(descriptor, path);
    if (is_known) {
        call->path = path;
        call->file = status.st_ino;
        call->size = status.st_size;
        if (S_ISDIR(status.st_mode) && call->kind == tideline_sync) call->kind = tideline_sync_directory;
    }
    errno = error;
    return is_known;
}

// The path from the root on, without links in its folders; false where there is no such folder.
static bool resolve(int folder, const char *path, char full[PATH_MAX]) {
    int error = errno;
    char joined[PATH_MAX], base[PATH_MAX] = "";
    bool is_found = path != NULL && path[0] != 0;
    if (is_found && path[0] != '/') {
        is_found = folder == AT_FDCWD ? getcwd(base, sizeof base) != NULL : find_path(folder, base);
    }
    is_found = is_found && (size_t)snprintf(joined, sizeof joined, "%s/%s", base, path) < sizeof joined;
    if (is_found) {
        size_t length = strlen(joined);
        while (length > 1 && joined[length - 1] == '/') joined[--length] = 0;
        char *slash = strrchr(joined, '/');
        char name[NAME_MAX + 2];
        snprintf(name, sizeof name, "%s", slash + 1);
        slash[slash == joined ? 1 : 0] = 0;
        is_found = realpath(joined, full) != NULL && strlen(full) + strlen(name) + 2 <= PATH_MAX;
        if (is_found) {
            if (full[1] != 0) strcat(full, "/");
            strcat(full, name);
        }
    }
    errno = error;
    return is_found;
}

// A call on a name.
static bool describe_name(int folder, const char *path, tideline_file_call *call, char full[PATH_MAX]) {
    if (!resolve(folder, path, full)) return false;
    int error = errno;
    struct stat status;
    call->path = full;
    if (lstat(full, &status) == 0) {
        call->file = status.st_ino;
        call->size = status.st_size;
    }
    errno = error;
    return true;
}

// MARK: Opening

static int open_observed(int folder, const char *path, int flags, mode_t mode) {
    char full[PATH_MAX];
    tideline_file_call call = {.kind = tideline_open};
    tideline_file_decision decision;
    bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
    if (!describe_name(folder, path, &call, full)) return NEXT(openat)(folder, path, flags, mode);
    bool has_existed = call.file != 0 && !is_nameless;
    if (is_nameless || (!has_existed && (flags & O_CREAT))) {
        call.kind = tideline_create;
        call.is_nameless = is_nameless;
        call.file = 0;
        call.size = 0;
    } else if (has_existed && (flags & O_TRUNC) && call.size > 0) {
        call.kind = tideline_resize;
    }
    if (!enter(&call, &decision)) return NEXT(openat)(folder, path, flags, mode);
    errno = decision.error;
    int descriptor = decision.error ? -1 : NEXT(openat)(folder, path, flags, mode);
    struct stat status;
    if (descriptor >= 0 && fstat(descriptor, &status) == 0) call.file = status.st_ino;
    leave(&call, descriptor >= 0);
    return descriptor;
}

#define MODE(flags)                                               \
    ({                                                            \
        mode_t mode = 0;                                          \
        if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) { \
            va_list arguments;                                    \
            va_start(arguments, flags);                           \
            mode = va_arg(arguments, mode_t);                     \
            va_end(arguments);                                    \
        }                                                         \
        mode;                                                     \
    })

int open(const char *path, int flags, ...) {
    mode_t mode = MODE(flags);
    return is_observed() ? open_observed(AT_FDCWD, path, flags, mode) : NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    mode_t mode = MODE(flags);
    return is_observed() ? open_observed(AT_FDCWD, path, flags, mode) : NEXT(open64)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    mode_t mode = MODE(flags);
    return is_observed() ? open_observed(folder, path, flags, mode) : NEXT(openat)(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    mode_t mode = MODE(flags);
    return is_observed() ? open_observed(folder, path, flags, mode) : NEXT(openat64)(folder, path, flags, mode);
}

int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

// What a program built with `_FORTIFY_SOURCE` calls when it makes no file.
int __open_2(const char *path, int flags) { return open(path, flags, 0); }
int __open64_2(const char *path, int flags) { return open64(path, flags, 0); }
int __openat_2(int folder, const char *path, int flags) { return openat(folder, path, flags, 0); }
int __openat64_2(int folder, const char *path, int flags) { return openat64(folder, path, flags, 0); }

// MARK: Reading

// Reads at an offset, or at the descriptor's own position where that is negative.
static ssize_t read_next(int descriptor, void *bytes, size_t count, off_t offset) {
    return offset < 0 ? NEXT(read)(descriptor, bytes, count) : NEXT(pread)(descriptor, bytes, count, offset);
}

static ssize_t read_observed(int descriptor, void *bytes, size_t count, off_t offset) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_read, .offset = offset, .length = (int64_t)count};
    tideline_file_decision decision;
    if (!describe(descriptor, &call, path) || !enter(&call, &decision)) {
        return read_next(descriptor, bytes, count, offset);
    }
    errno = decision.error;
    if (decision.length >= 0 && (size_t)decision.length < count) count = (size_t)decision.length;
    ssize_t result = decision.error ? -1 : read_next(descriptor, bytes, count, offset);
    leave(&call, result >= 0);
    return result;
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    return is_observed() ? read_observed(descriptor, bytes, count, -1) : NEXT(read)(descriptor, bytes, count);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    return is_observed() && offset >= 0 ? read_observed(descriptor, bytes, count, offset)
                                        : NEXT(pread)(descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
    return is_observed() && offset >= 0 ? read_observed(descriptor, bytes, count, offset)
                                        : NEXT(pread64)(descriptor, bytes, count, offset);
}

// MARK: Writing

// Writes at an offset, or at the descriptor's own position where that is negative.
static ssize_t write_next(int descriptor, const void *bytes, size_t count, off_t offset) {
    return offset < 0 ? NEXT(write)(descriptor, bytes, count) : NEXT(pwrite)(descriptor, bytes, count, offset);
}

static ssize_t write_observed(int descriptor, const void *bytes, size_t count, off_t offset) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_write, .bytes = bytes, .length = (int64_t)count};
    tideline_file_decision decision;
    if (!describe(descriptor, &call, path)) return write_next(descriptor, bytes, count, offset);
    int error = errno;
    int flags = fcntl(descriptor, F_GETFL);
    call.is_synced = (flags & O_DSYNC) == O_DSYNC;
    call.offset = flags & O_APPEND ? call.size : offset < 0 ? lseek(descriptor, 0, SEEK_CUR) : offset;
    errno = error;
    if (!enter(&call, &decision)) return write_next(descriptor, bytes, count, offset);
    errno = decision.error;
    if (decision.length >= 0 && (size_t)decision.length < count) count = (size_t)decision.length;
    ssize_t result = decision.error ? -1 : write_next(descriptor, bytes, count, offset);
    if (result >= 0) call.length = result;
    leave(&call, result >= 0);
    return result;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    return is_observed() ? write_observed(descriptor, bytes, count, -1) : NEXT(write)(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return is_observed() && offset >= 0 ? write_observed(descriptor, bytes, count, offset)
                                        : NEXT(pwrite)(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return is_observed() && offset >= 0 ? write_observed(descriptor, bytes, count, offset)
                                        : NEXT(pwrite64)(descriptor, bytes, count, offset);
}

// Several pieces in one call, as one; -2 where there is no memory for that.
static ssize_t write_pieces(int descriptor, const struct iovec *pieces, int count, off_t offset) {
    size_t length = 0;
    for (int i = 0; i < count; i++) length += pieces[i].iov_len;
    char *bytes = malloc(length ? length : 1);
    if (!bytes) return -2;
    char *end = bytes;
    for (int i = 0; i < count; i++) end = mempcpy(end, pieces[i].iov_base, pieces[i].iov_len);
    ssize_t result = write_observed(descriptor, bytes, length, offset);
    int error = errno;
    free(bytes);
    errno = error;
    return result;
}

#define WRITE_PIECES(descriptor, pieces, count, offset, otherwise)                            \
    ({                                                                                        \
        ssize_t result = is_observed() ? write_pieces(descriptor, pieces, count, offset) : -2; \
        result == -2 ? (otherwise) : result;                                                  \
    })

ssize_t writev(int descriptor, const struct iovec *pieces, int count) {
    return WRITE_PIECES(descriptor, pieces, count, -1, NEXT(writev)(descriptor, pieces, count));
}

ssize_t pwritev(int descriptor, const struct iovec *pieces, int count, off_t offset) {
    return WRITE_PIECES(descriptor, pieces, count, offset, NEXT(pwritev)(descriptor, pieces, count, offset));
}

ssize_t pwritev64(int descriptor, const struct iovec *pieces, int count, off64_t offset) {
    return WRITE_PIECES(descriptor, pieces, count, offset, NEXT(pwritev64)(descriptor, pieces, count, offset));
}

// A copy from file to file inside the kernel, done here instead, piece by piece, so that its writes are seen.
static ssize_t copy(int from, off_t *from_offset, int to, off_t *to_offset, size_t count) {
    char bytes[65536];
    ssize_t length =
        read_next(from, bytes, count < sizeof bytes ? count : sizeof bytes, from_offset ? *from_offset : -1);
    if (length <= 0) return length;
    ssize_t written = write_observed(to, bytes, (size_t)length, to_offset ? *to_offset : -1);
    if (written < 0) return -1;
    if (from_offset) *from_offset += written;
    else if (written < length) lseek(from, written - length, SEEK_CUR);
    if (to_offset) *to_offset += written;
    return written;
}

static bool is_file(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

ssize_t copy_file_range(
    int from, off64_t *from_offset, int to, off64_t *to_offset, size_t count, unsigned int flags
) {
    return is_observed() ? copy(from, from_offset, to, to_offset, count)
                         : NEXT(copy_file_range)(from, from_offset, to, to_offset, count, flags);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
    return is_observed() && is_file(to) ? copy(from, offset, to, NULL, count) : NEXT(sendfile)(to, from, offset, count);
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t count) { return sendfile(to, from, offset, count); }

// MARK: Sizes

static int resize_observed(int descriptor, off_t size) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_resize, .offset = size};
    if (!describe(descriptor, &call, path)) return NEXT(ftruncate)(descriptor, size);
    return DECIDED(call, NEXT(ftruncate)(descriptor, size));
}

int ftruncate(int descriptor, off_t size) {
    return is_observed() ? resize_observed(descriptor, size) : NEXT(ftruncate)(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) {
    return is_observed() ? resize_observed(descriptor, size) : NEXT(ftruncate64)(descriptor, size);
}

static int resize_name_observed(const char *name, off_t size) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_resize, .offset = size};
    if (!describe_name(AT_FDCWD, name, &call, path)) return NEXT(truncate)(name, size);
    return DECIDED(call, NEXT(truncate)(name, size));
}

int truncate(const char *name, off_t size) {
    return is_observed() ? resize_name_observed(name, size) : NEXT(truncate)(name, size);
}

int truncate64(const char *name, off64_t size) {
    return is_observed() ? resize_name_observed(name, size) : NEXT(truncate64)(name, size);
}

// Room that is set aside beyond a file's end makes it longer, and reads zero. What else `fallocate` can do is refused,
// as a file system may.
static int allocate_observed(int descriptor, int mode, off_t offset, off_t length) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_resize, .offset = offset + length};
    if (!describe(descriptor, &call, path)) return NEXT(fallocate)(descriptor, mode, offset, length);
    if (mode != 0 && mode != FALLOC_FL_KEEP_SIZE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (mode != 0 || call.offset < call.size) call.offset = call.size;
    return DECIDED(call, NEXT(fallocate)(descriptor, mode, offset, length));
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    return is_observed() ? allocate_observed(descriptor, mode, offset, length)
                         : NEXT(fallocate)(descriptor, mode, offset, length);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
    return fallocate(descriptor, mode, offset, length);
}

// Unlike the other calls it gives the error itself.
int posix_fallocate(int descriptor, off_t offset, off_t length) {
    if (!is_observed()) return NEXT(posix_fallocate)(descriptor, offset, length);
    int error = errno;
    int result = allocate_observed(descriptor, 0, offset, length) == 0 ? 0 : errno;
    errno = error;
    return result;
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
    return posix_fallocate(descriptor, offset, length);
}

// MARK: Syncing

static int sync_observed(int descriptor, int (*next)(int)) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_sync};
    if (!describe(descriptor, &call, path)) return next(descriptor);
    return DECIDED(call, next(descriptor));
}

int fsync(int descriptor) {
    return is_observed() ? sync_observed(descriptor, NEXT(fsync)) : NEXT(fsync)(descriptor);
}

int fdatasync(int descriptor) {
    return is_observed() ? sync_observed(descriptor, NEXT(fdatasync)) : NEXT(fdatasync)(descriptor);
}

// MARK: Names

static int rename_observed(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags) {
    char path[PATH_MAX], destination[PATH_MAX];
    tideline_file_call call = {.kind = tideline_rename, .destination = destination};
    if (!describe_name(from_folder, from, &call, path) || !resolve(to_folder, to, destination)) {
        return NEXT(renameat2)(from_folder, from, to_folder, to, flags);
    }
    return DECIDED(call, NEXT(renameat2)(from_folder, from, to_folder, to, flags));
}

int rename(const char *from, const char *to) {
    return is_observed() ? rename_observed(AT_FDCWD, from, AT_FDCWD, to, 0) : NEXT(rename)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return is_observed() ? rename_observed(from_folder, from, to_folder, to, 0)
                         : NEXT(renameat)(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags) {
    return is_observed() ? rename_observed(from_folder, from, to_folder, to, flags)
                         : NEXT(renameat2)(from_folder, from, to_folder, to, flags);
}

static int link_observed(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    char path[PATH_MAX], destination[PATH_MAX];
    tideline_file_call call = {.kind = tideline_link, .destination = destination};
    struct stat status;
    int error = errno;
    // A file without a name gets one by way of its descriptor's.
    bool is_known = fstatat(from_folder, from, &status, flags & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
    errno = error;
    if (!is_known || !resolve(from_folder, from, path) || !resolve(to_folder, to, destination)) {
        return NEXT(linkat)(from_folder, from, to_folder, to, flags);
    }
    call.file = status.st_ino;
    call.size = status.st_size;
    call.path = destination;
    return DECIDED(call, NEXT(linkat)(from_folder, from, to_folder, to, flags));
}

int link(const char *from, const char *to) {
    return is_observed() ? link_observed(AT_FDCWD, from, AT_FDCWD, to, 0) : NEXT(link)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return is_observed() ? link_observed(from_folder, from, to_folder, to, flags)
                         : NEXT(linkat)(from_folder, from, to_folder, to, flags);
}

static int unlink_observed(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = flags & AT_REMOVEDIR ? tideline_remove_directory : tideline_unlink};
    if (!describe_name(folder, name, &call, path)) return NEXT(unlinkat)(folder, name, flags);
    return DECIDED(call, NEXT(unlinkat)(folder, name, flags));
}

int unlink(const char *name) {
    return is_observed() ? unlink_observed(AT_FDCWD, name, 0) : NEXT(unlink)(name);
}

int unlinkat(int folder, const char *name, int flags) {
    return is_observed() ? unlink_observed(folder, name, flags) : NEXT(unlinkat)(folder, name, flags);
}

int rmdir(const char *name) {
    return is_observed() ? unlink_observed(AT_FDCWD, name, AT_REMOVEDIR) : NEXT(rmdir)(name);
}

int remove(const char *name) {
    if (!is_observed()) return NEXT(remove)(name);
    struct stat status;
    if (lstat(name, &status) != 0) return -1;
    return S_ISDIR(status.st_mode) ? rmdir(name) : unlink(name);
}

static int mkdir_observed(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_make_directory};
    if (!describe_name(folder, name, &call, path)) return NEXT(mkdirat)(folder, name, mode);
    return DECIDED(call, NEXT(mkdirat)(folder, name, mode));
}

int mkdir(const char *name, mode_t mode) {
    return is_observed() ? mkdir_observed(AT_FDCWD, name, mode) : NEXT(mkdir)(name, mode);
}

int mkdirat(int folder, const char *name, mode_t mode) {
    return is_observed() ? mkdir_observed(folder, name, mode) : NEXT(mkdirat)(folder, name, mode);
}

// MARK: Maps

static void *map_observed(void *start, size_t length, int protection, int flags, int descriptor, off_t offset) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_map, .offset = offset, .length = (int64_t)length};
    tideline_file_decision decision;
    if (!describe(descriptor, &call, path) || !enter(&call, &decision)) {
        return NEXT(mmap)(start, length, protection, flags, descriptor, offset);
    }
    errno = decision.error;
    void *result =
        decision.error ? MAP_FAILED : NEXT(mmap)(start, length, protection, flags, descriptor, offset);
    leave(&call, result != MAP_FAILED);
    return result;
}

static bool is_written_map(int protection, int flags, int descriptor) {
    return is_observed() && descriptor >= 0 && (protection & PROT_WRITE) && (flags & MAP_TYPE) != MAP_PRIVATE;
}

void *mmap(void *start, size_t length, int protection, int flags, int descriptor, off_t offset) {
    return is_written_map(protection, flags, descriptor)
        ? map_observed(start, length, protection, flags, descriptor, offset)
        : NEXT(mmap)(start, length, protection, flags, descriptor, offset);
}

void *mmap64(void *start, size_t length, int protection, int flags, int descriptor, off64_t offset) {
    return mmap(start, length, protection, flags, descriptor, offset);
}

#endif
