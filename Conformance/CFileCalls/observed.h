// What the files of this target share: how a call is decided, made and told of. Not for others.
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

// Only for glibc, and not beside a sanitizer, which defines the same names.
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

// Seen in this target only.
#pragma GCC visibility push(hidden)

// Whether this thread's calls are to be looked at.
bool tideline_is_observed(void);
// Asks the observer. When it watches the file, the lock is held until `tideline_leave`, so that calls are told of in the
// order in which they are made.
bool tideline_enter(const tideline_file_call *call, tideline_file_decision *decision);
// Tells the observer how the call went.
void tideline_leave(const tideline_file_call *call, bool has_succeeded);

// The path of what a descriptor has open; false for what is no file and no folder.
bool tideline_find_path(int descriptor, char path[PATH_MAX]);
// A call on what a descriptor has open.
bool tideline_describe(int descriptor, tideline_file_call *call, char path[PATH_MAX]);
// The path from the root on, without links in its folders; false where there is no such folder.
bool tideline_resolve(int folder, const char *path, char full[PATH_MAX]);
// A call on a name.
bool tideline_describe_name(int folder, const char *path, tideline_file_call *call, char full[PATH_MAX]);

#pragma GCC visibility pop

// A call that gives 0 or fails, as the observer decides: `perform` makes it.
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
