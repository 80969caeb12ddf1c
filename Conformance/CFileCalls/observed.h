// Declarations shared by the files of this target: how a call is decided, made, and reported. Internal.
#ifndef TIDELINE_OBSERVED_H
#define TIDELINE_OBSERVED_H

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

// Only for glibc and without a sanitizer, which defines the same names.
#if defined(__GLIBC__) && !defined(HAS_SANITIZER)
#define OBSERVES_FILES 1

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

// The system's function with the given name.
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

// Visible in this target only.
#pragma GCC visibility push(hidden)

// Returns whether this thread's calls are observed.
bool tideline_is_observed(void);
// Asks the observer. If it watches the file, the lock is held until `tideline_leave`, so that calls are reported in the
// order in which they are made.
bool tideline_enter(const tideline_file_call *call, tideline_file_decision *decision);
// Reports the result of the call to the observer.
void tideline_leave(const tideline_file_call *call, bool has_succeeded);

// Finds the path of an open descriptor; returns false if it is neither a file nor a directory.
bool tideline_find_path(int descriptor, char path[PATH_MAX]);
// Describes a call on a descriptor.
bool tideline_describe(int descriptor, tideline_file_call *call, char path[PATH_MAX]);
// Resolves an absolute path without symbolic links in its directories; returns false if the directory does not exist.
bool tideline_resolve(int folder, const char *path, char full[PATH_MAX]);
// Describes a call on a path.
bool tideline_describe_name(int folder, const char *path, tideline_file_call *call, char full[PATH_MAX]);

#pragma GCC visibility pop

// A call that returns 0 or fails, as the observer decides; `perform` makes it.
#define DECIDED(call, perform)                                       \
    ({                                                               \
        tideline_file_decision decision;                             \
        int result;                                                  \
        if (!tideline_enter(&(call), &decision)) {                            \
            result = (perform);                                      \
        } else {                                                     \
            errno = decision.error;                                  \
            result = decision.error ? -1 : decision.is_skipped ? 0 : (perform); \
            tideline_leave(&(call), result == 0);                             \
        }                                                            \
        result;                                                      \
    })

#endif
#endif
