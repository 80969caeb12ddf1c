// Memory mappings. Writes through a mapping are not observed, so the creation of the mapping is reported.
#include "observed.h"

#if OBSERVES_FILES

static void *map_observed(void *start, size_t length, int protection, int flags, int descriptor, off_t offset) {
    char path[PATH_MAX];
    tideline_file_call call = {.kind = tideline_map, .offset = offset, .length = (int64_t)length};
    tideline_file_decision decision;
    if (!tideline_describe(descriptor, &call, path) || !tideline_enter(&call, &decision)) {
        return NEXT(mmap)(start, length, protection, flags, descriptor, offset);
    }
    errno = decision.error;
    void *result =
        decision.error ? MAP_FAILED : NEXT(mmap)(start, length, protection, flags, descriptor, offset);
    tideline_leave(&call, result != MAP_FAILED);
    return result;
}

static bool is_written_map(int protection, int flags, int descriptor) {
    return tideline_is_observed() && descriptor >= 0 && (protection & PROT_WRITE) && (flags & MAP_TYPE) != MAP_PRIVATE;
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
