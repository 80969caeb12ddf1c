// A number in a file that processes map, and threads that wait until it changes. Swift cannot import variadic functions, and
// has no atomic operations on mapped memory.
#ifndef TIDELINE_CCOMMITSIGNAL_SHIM_H
#define TIDELINE_CCOMMITSIGNAL_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <os/os_sync_wait_on_address.h>
#endif

// The length of the file, of which the first four bytes are used.
#define TIDELINE_SIGNAL_LENGTH 64

// Maps the file, which is created if it does not exist. Returns NULL if that is impossible, or the file has another length.
static inline uint32_t *tideline_signal_map(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0) return NULL;
    struct stat status;
    void *memory = MAP_FAILED;
    int valid = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    // Written rather than extended: on a full disk, writing to a hole through the map would end the process. The last byte,
    // because another process may already use the first ones.
    if (valid && status.st_size == 0) {
        valid = pwrite(file, "", 1, TIDELINE_SIGNAL_LENGTH - 1) == 1;
    } else if (valid) {
        valid = status.st_size == TIDELINE_SIGNAL_LENGTH;
    }
    if (valid) memory = mmap(NULL, TIDELINE_SIGNAL_LENGTH, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return memory == MAP_FAILED ? NULL : (uint32_t *)memory;
}

static inline void tideline_signal_unmap(uint32_t *word) { munmap(word, TIDELINE_SIGNAL_LENGTH); }

// The number is in the upper 31 bits. The lowest bit tells that a thread may be waiting: it changes together with the number, so
// that no signal is lost, and the next signal clears it, so that it does not outlive a waiting process that is killed.
static inline uint32_t tideline_signal_number(uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_SEQ_CST) >> 1;
}

// Changes the number, and wakes all threads that wait.
static inline void tideline_signal_send(uint32_t *word) {
    uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        word, &old, ((old >> 1) + 1) << 1, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
    if (!(old & 1)) return;
#ifdef __linux__
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
#elif defined(__APPLE__)
    os_sync_wake_by_address_all(word, sizeof *word, OS_SYNC_WAKE_BY_ADDRESS_SHARED);
#endif
}

// Waits until the number is another one, but not longer than the given time. May return earlier. Returns whether it is.
static inline int tideline_signal_wait(uint32_t *word, uint32_t number, uint64_t nanoseconds) {
    uint32_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    do {
        if (old >> 1 != number) return 1;
    } while (!__atomic_compare_exchange_n(word, &old, old | 1, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    int failure = ENOTSUP;
#ifdef __linux__
    failure = syscall(SYS_futex, word, FUTEX_WAIT, old | 1, &time, NULL, 0) == 0 ? 0 : errno;
#elif defined(__APPLE__)
    failure = os_sync_wait_on_address_with_timeout(
        word, old | 1, sizeof *word, OS_SYNC_WAIT_ON_ADDRESS_SHARED, OS_CLOCK_MACH_ABSOLUTE_TIME, nanoseconds) >= 0
        ? 0 : errno;
#endif
    // A system that cannot wait must not be asked again at once.
    if (failure != 0 && failure != EAGAIN && failure != EINTR && failure != ETIMEDOUT) nanosleep(&time, NULL);
    return tideline_signal_number(word) != number;
}

#endif
