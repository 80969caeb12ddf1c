// Interposes the calls by which a program changes files: functions with the same names forward to the system's.
//
// The dynamic linker searches the executable first, and the static linker exports the symbols that shared libraries
// refer to. An executable that links this file therefore uses these functions instead of the C library's, in its own
// code and in all shared libraries. While nothing is observed, the overhead of a call is one atomic read.
//
// Descriptors are not tracked. The file of a descriptor is looked up at each call (`/proc/self/fd`), so duplicated,
// inherited, and renamed descriptors need no bookkeeping.
#include "observed.h"

#if OBSERVES_FILES

static _Atomic(const tideline_file_observer *) observer;
// The number of active observations.
static atomic_int observations;
// Held from a decision to the end of the call.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
// Whether this thread is inside an observed call. Calls made by the observer itself are not observed.
static __thread bool is_inside;

bool tideline_can_observe_files(void) { return true; }

void tideline_begin_observing_files(const tideline_file_observer *common) {
    atomic_store(&observer, common);
    atomic_fetch_add(&observations, 1);
}

void tideline_end_observing_files(void) { atomic_fetch_sub(&observations, 1); }

bool tideline_is_observed(void) {
    return atomic_load_explicit(&observations, memory_order_relaxed) > 0 && !is_inside;
}

bool tideline_enter(const tideline_file_call *call, tideline_file_decision *decision) {
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

void tideline_leave(const tideline_file_call *call, bool has_succeeded) {
    int error = errno;
    if (has_succeeded) atomic_load(&observer)->performed(call);
    pthread_mutex_unlock(&mutex);
    is_inside = false;
    errno = error;
}

bool tideline_find_path(int descriptor, char path[PATH_MAX]) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0 || path[0] != '/') return false;
    path[length] = 0;
    return true;
}

bool tideline_describe(int descriptor, tideline_file_call *call, char path[PATH_MAX]) {
    int error = errno;
    struct stat status;
    bool is_known = fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        && tideline_find_path(descriptor, path);
    if (is_known) {
        call->path = path;
        call->file = status.st_ino;
        call->size = status.st_size;
        if (S_ISDIR(status.st_mode) && call->kind == tideline_sync) call->kind = tideline_sync_directory;
    }
    errno = error;
    return is_known;
}

bool tideline_resolve(int folder, const char *path, char full[PATH_MAX]) {
    int error = errno;
    char joined[PATH_MAX], base[PATH_MAX] = "";
    bool is_found = path != NULL && path[0] != 0;
    if (is_found && path[0] != '/') {
        is_found = folder == AT_FDCWD ? getcwd(base, sizeof base) != NULL : tideline_find_path(folder, base);
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

bool tideline_describe_name(int folder, const char *path, tideline_file_call *call, char full[PATH_MAX]) {
    if (!tideline_resolve(folder, path, full)) return false;
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

#else

bool tideline_can_observe_files(void) { return false; }
void tideline_begin_observing_files(const tideline_file_observer *observer) { (void)observer; }
void tideline_end_observing_files(void) {}

#endif
