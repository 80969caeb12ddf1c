// Reading, writing, sizes and syncing.
#include "observed.h"

#if OBSERVES_FILES

// Reads at an offset, or at the descriptor's own position if the offset is negative.
static ssize_t read_next(int descriptor, void *bytes, size_t count, off_t offset) {
    return offset < 0 ? NEXT(read)(descriptor, bytes, count) : NEXT(pread)(descriptor, bytes, count, offset);
}

static ssize_t read_observed(int descriptor, void *bytes, size_t count, off_t offset) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_read, .offset = offset, .length = (int64_t)count};
    tideline_file_decision decision;
    if (!tideline_describe(descriptor, &call, path) || !tideline_enter(&call, &decision)) {
        return read_next(descriptor, bytes, count, offset);
    }
    errno = decision.error;
    if (decision.length >= 0 && (size_t)decision.length < count) count = (size_t)decision.length;
    ssize_t result = decision.error ? -1 : read_next(descriptor, bytes, count, offset);
    tideline_leave(&call, result >= 0);
    return result;
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    return tideline_is_observed() ? read_observed(descriptor, bytes, count, -1) : NEXT(read)(descriptor, bytes, count);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    return tideline_is_observed() && offset >= 0 ? read_observed(descriptor, bytes, count, offset)
                                        : NEXT(pread)(descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
    return tideline_is_observed() && offset >= 0 ? read_observed(descriptor, bytes, count, offset)
                                        : NEXT(pread64)(descriptor, bytes, count, offset);
}

// Writes at an offset, or at the descriptor's own position if the offset is negative.
static ssize_t write_next(int descriptor, const void *bytes, size_t count, off_t offset) {
    return offset < 0 ? NEXT(write)(descriptor, bytes, count) : NEXT(pwrite)(descriptor, bytes, count, offset);
}

static ssize_t write_observed(int descriptor, const void *bytes, size_t count, off_t offset) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_write, .bytes = bytes, .length = (int64_t)count};
    tideline_file_decision decision;
    if (!tideline_describe(descriptor, &call, path)) return write_next(descriptor, bytes, count, offset);
    int error = errno;
    int flags = fcntl(descriptor, F_GETFL);
    call.is_synced = (flags & O_DSYNC) == O_DSYNC;
    call.offset = flags & O_APPEND ? call.size : offset < 0 ? lseek(descriptor, 0, SEEK_CUR) : offset;
    errno = error;
    if (!tideline_enter(&call, &decision)) return write_next(descriptor, bytes, count, offset);
    errno = decision.error;
    if (decision.length >= 0 && (size_t)decision.length < count) count = (size_t)decision.length;
    ssize_t result = decision.error ? -1 : write_next(descriptor, bytes, count, offset);
    if (result >= 0) call.length = result;
    tideline_leave(&call, result >= 0);
    return result;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    return tideline_is_observed() ? write_observed(descriptor, bytes, count, -1) : NEXT(write)(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return tideline_is_observed() && offset >= 0 ? write_observed(descriptor, bytes, count, offset)
                                        : NEXT(pwrite)(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return tideline_is_observed() && offset >= 0 ? write_observed(descriptor, bytes, count, offset)
                                        : NEXT(pwrite64)(descriptor, bytes, count, offset);
}

// Combines several buffers into one call; returns -2 if memory allocation fails.
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
        ssize_t result = tideline_is_observed() ? write_pieces(descriptor, pieces, count, offset) : -2; \
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

// Copies from file to file piece by piece instead of inside the kernel, so that the writes are observed.
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
    return tideline_is_observed() ? copy(from, from_offset, to, to_offset, count)
                         : NEXT(copy_file_range)(from, from_offset, to, to_offset, count, flags);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
    return tideline_is_observed() && is_file(to) ? copy(from, offset, to, NULL, count) : NEXT(sendfile)(to, from, offset, count);
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t count) { return sendfile(to, from, offset, count); }

static int resize_observed(int descriptor, off_t size) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_resize, .offset = size};
    if (!tideline_describe(descriptor, &call, path)) return NEXT(ftruncate)(descriptor, size);
    return DECIDED(call, NEXT(ftruncate)(descriptor, size));
}

int ftruncate(int descriptor, off_t size) {
    return tideline_is_observed() ? resize_observed(descriptor, size) : NEXT(ftruncate)(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) {
    return tideline_is_observed() ? resize_observed(descriptor, size) : NEXT(ftruncate64)(descriptor, size);
}

static int resize_name_observed(const char *name, off_t size) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_resize, .offset = size};
    if (!tideline_describe_name(AT_FDCWD, name, &call, path)) return NEXT(truncate)(name, size);
    return DECIDED(call, NEXT(truncate)(name, size));
}

int truncate(const char *name, off_t size) {
    return tideline_is_observed() ? resize_name_observed(name, size) : NEXT(truncate)(name, size);
}

int truncate64(const char *name, off64_t size) {
    return tideline_is_observed() ? resize_name_observed(name, size) : NEXT(truncate64)(name, size);
}

// Allocating space beyond a file's end extends the file with zeros. Other modes of `fallocate` are refused, as a file
// system may do.
static int allocate_observed(int descriptor, int mode, off_t offset, off_t length) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_resize, .offset = offset + length};
    if (!tideline_describe(descriptor, &call, path)) return NEXT(fallocate)(descriptor, mode, offset, length);
    if (mode != 0 && mode != FALLOC_FL_KEEP_SIZE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (mode != 0 || call.offset < call.size) call.offset = call.size;
    return DECIDED(call, NEXT(fallocate)(descriptor, mode, offset, length));
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    return tideline_is_observed() ? allocate_observed(descriptor, mode, offset, length)
                         : NEXT(fallocate)(descriptor, mode, offset, length);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
    return fallocate(descriptor, mode, offset, length);
}

// Unlike the other calls, this one returns the error number itself.
int posix_fallocate(int descriptor, off_t offset, off_t length) {
    if (!tideline_is_observed()) return NEXT(posix_fallocate)(descriptor, offset, length);
    int error = errno;
    int result = allocate_observed(descriptor, 0, offset, length) == 0 ? 0 : errno;
    errno = error;
    return result;
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
    return posix_fallocate(descriptor, offset, length);
}

static int sync_observed(int descriptor, int (*next)(int)) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_sync};
    if (!tideline_describe(descriptor, &call, path)) return next(descriptor);
    return DECIDED(call, next(descriptor));
}

int fsync(int descriptor) {
    return tideline_is_observed() ? sync_observed(descriptor, NEXT(fsync)) : NEXT(fsync)(descriptor);
}

int fdatasync(int descriptor) {
    return tideline_is_observed() ? sync_observed(descriptor, NEXT(fdatasync)) : NEXT(fdatasync)(descriptor);
}

#endif
