// Opening, renaming, linking, removing, and creating directories.
#include "observed.h"

#if OBSERVES_FILES

static int open_observed(int folder, const char *path, int flags, mode_t mode) {
    char full[PATH_MAX];
    tideline_file_call call = {.kind = tideline_open, .is_for_writing = (flags & O_ACCMODE) != O_RDONLY};
    tideline_file_decision decision;
    bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
    if (!tideline_describe_name(folder, path, &call, full)) return NEXT(openat)(folder, path, flags, mode);
    bool has_existed = call.file != 0 && !is_nameless;
    if (is_nameless || (!has_existed && (flags & O_CREAT))) {
        call.kind = tideline_create;
        call.is_nameless = is_nameless;
        call.file = 0;
        call.size = 0;
    } else if (has_existed && (flags & O_TRUNC) && call.size > 0) {
        call.kind = tideline_resize;
    }
    if (!tideline_enter(&call, &decision)) return NEXT(openat)(folder, path, flags, mode);
    errno = decision.error;
    int descriptor = decision.error ? -1 : NEXT(openat)(folder, path, flags, mode);
    struct stat status;
    if (descriptor >= 0 && fstat(descriptor, &status) == 0) call.file = status.st_ino;
    tideline_leave(&call, descriptor >= 0);
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
    return tideline_is_observed() ? open_observed(AT_FDCWD, path, flags, mode) : NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    mode_t mode = MODE(flags);
    return tideline_is_observed() ? open_observed(AT_FDCWD, path, flags, mode) : NEXT(open64)(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    mode_t mode = MODE(flags);
    return tideline_is_observed() ? open_observed(folder, path, flags, mode) : NEXT(openat)(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    mode_t mode = MODE(flags);
    return tideline_is_observed() ? open_observed(folder, path, flags, mode) : NEXT(openat64)(folder, path, flags, mode);
}

int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

// Called by programs built with `_FORTIFY_SOURCE` when no file is created.
int __open_2(const char *path, int flags) { return open(path, flags, 0); }
int __open64_2(const char *path, int flags) { return open64(path, flags, 0); }
int __openat_2(int folder, const char *path, int flags) { return openat(folder, path, flags, 0); }
int __openat64_2(int folder, const char *path, int flags) { return openat64(folder, path, flags, 0); }

static int rename_observed(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags) {
    char path[PATH_MAX], destination[PATH_MAX];
    tideline_file_call call = {.kind = tideline_rename, .destination = destination};
    if (!tideline_describe_name(from_folder, from, &call, path) || !tideline_resolve(to_folder, to, destination)) {
        return NEXT(renameat2)(from_folder, from, to_folder, to, flags);
    }
    return DECIDED(call, NEXT(renameat2)(from_folder, from, to_folder, to, flags));
}

int rename(const char *from, const char *to) {
    return tideline_is_observed() ? rename_observed(AT_FDCWD, from, AT_FDCWD, to, 0) : NEXT(rename)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return tideline_is_observed() ? rename_observed(from_folder, from, to_folder, to, 0)
                         : NEXT(renameat)(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags) {
    return tideline_is_observed() ? rename_observed(from_folder, from, to_folder, to, flags)
                         : NEXT(renameat2)(from_folder, from, to_folder, to, flags);
}

static int link_observed(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    char path[PATH_MAX], destination[PATH_MAX];
    tideline_file_call call = {.kind = tideline_link, .destination = destination};
    struct stat status;
    int error = errno;
    // A file without a name is linked through its descriptor.
    bool is_known = fstatat(from_folder, from, &status, flags & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
    errno = error;
    if (!is_known || !tideline_resolve(from_folder, from, path) || !tideline_resolve(to_folder, to, destination)) {
        return NEXT(linkat)(from_folder, from, to_folder, to, flags);
    }
    call.file = status.st_ino;
    call.size = status.st_size;
    call.path = destination;
    return DECIDED(call, NEXT(linkat)(from_folder, from, to_folder, to, flags));
}

int link(const char *from, const char *to) {
    return tideline_is_observed() ? link_observed(AT_FDCWD, from, AT_FDCWD, to, 0) : NEXT(link)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return tideline_is_observed() ? link_observed(from_folder, from, to_folder, to, flags)
                         : NEXT(linkat)(from_folder, from, to_folder, to, flags);
}

static int unlink_observed(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = flags & AT_REMOVEDIR ? tideline_remove_directory : tideline_unlink};
    if (!tideline_describe_name(folder, name, &call, path)) return NEXT(unlinkat)(folder, name, flags);
    return DECIDED(call, NEXT(unlinkat)(folder, name, flags));
}

int unlink(const char *name) {
    return tideline_is_observed() ? unlink_observed(AT_FDCWD, name, 0) : NEXT(unlink)(name);
}

int unlinkat(int folder, const char *name, int flags) {
    return tideline_is_observed() ? unlink_observed(folder, name, flags) : NEXT(unlinkat)(folder, name, flags);
}

int rmdir(const char *name) {
    return tideline_is_observed() ? unlink_observed(AT_FDCWD, name, AT_REMOVEDIR) : NEXT(rmdir)(name);
}

int remove(const char *name) {
    if (!tideline_is_observed()) return NEXT(remove)(name);
    struct stat status;
    if (lstat(name, &status) != 0) return -1;
    return S_ISDIR(status.st_mode) ? rmdir(name) : unlink(name);
}

static int mkdir_observed(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_make_directory};
    if (!tideline_describe_name(folder, name, &call, path)) return NEXT(mkdirat)(folder, name, mode);
    return DECIDED(call, NEXT(mkdirat)(folder, name, mode));
}

int mkdir(const char *name, mode_t mode) {
    return tideline_is_observed() ? mkdir_observed(AT_FDCWD, name, mode) : NEXT(mkdir)(name, mode);
}

int mkdirat(int folder, const char *name, mode_t mode) {
    return tideline_is_observed() ? mkdir_observed(folder, name, mode) : NEXT(mkdirat)(folder, name, mode);
}

#endif
