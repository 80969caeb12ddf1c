#include "checksums.h"

#include <stdlib.h>
#include <string.h>

enum { checksum_size = 8, header_size = 100 };

static const char vfs_name[] = "tideline-checksums";
static uint32_t marked_application_id, marked_user_version;

// MARK: The checksum

static uint64_t load(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

// Every step is a bijection of the state and of the word, so a change within one word always changes the result.
static uint64_t step(uint64_t state, uint64_t word) {
    state ^= word;
    return (state << 29 | state >> 35) * 0x9E3779B97F4A7C15u;
}

uint64_t tideline_page_checksum(const uint8_t *page, int count, uint64_t number) {
    // Four states at a time, because each multiplication waits for the one before it. The page number is part of the
    // checksum. It keeps a page of zeros from having the checksum 0, and it reveals a page that was written to the
    // wrong place.
    uint64_t a = number, b = 0x243F6A8885A308D3u, c = 0x13198A2E03707344u, d = 0xA4093822299F31D0u;
    int place = 0;
    for (; place + 32 < count; place += 32) {
        a = step(a, load(page + place));
        b = step(b, load(page + place + 8));
        c = step(c, load(page + place + 16));
        d = step(d, load(page + place + 24));
    }
    for (; place + checksum_size < count; place += 8) a = step(a, load(page + place));
    return step(step(step(step(0x452821E638D01377u, a), b), c), d);
}

// MARK: Files

// A database file. The file of the underlying VFS follows it in memory.
typedef struct {
    sqlite3_file base;
    // Whether the header of a store was read or written, which determines whether the file has checksums.
    int is_store;
    // The page size, or 0 as long as the file is not known to have checksums.
    int page_size;
    // The page size of a store with checksums whose header may not be in the file yet; 0 for other files.
    int expected_size;
    // Whether pages are accepted whose checksum is missing, which is 0, and how many were read.
    int accepts_missing, missing_count;
    // Buffer in which a page is completed before it is written.
    uint8_t *page;
} CheckedFile;

static sqlite3_file *below(sqlite3_file *file) { return (sqlite3_file *)((CheckedFile *)file + 1); }

static uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// Reads from the header of a database whether it has checksums.
static void note_header(CheckedFile *file, const uint8_t *header) {
    int stored = header[16] << 8 | header[17];
    int size = stored == 1 ? 65536 : stored;
    uint32_t version = big_endian(header + 60);
    // If another connection is writing the header for the first time, only part of it may be there: no version yet.
    file->is_store = memcmp(header, "SQLite format 3", 16) == 0 &&
                     big_endian(header + 68) == marked_application_id && version > 0;
    int page_size = file->is_store && version == marked_user_version && size >= 512 ? size : 0;
    if (page_size == file->page_size) return;
    free(file->page);
    file->page = 0;
    file->page_size = page_size;
}

static int is_page(const CheckedFile *file, int count, sqlite3_int64 offset) {
    return file->page_size && count == file->page_size && offset % count == 0;
}

static uint64_t checksum(const uint8_t *page, int count, sqlite3_int64 offset) {
    return tideline_page_checksum(page, count, (uint64_t)(offset / count) + 1);
}

static int checked_close(sqlite3_file *file) {
    free(((CheckedFile *)file)->page);
    ((CheckedFile *)file)->page = 0;
    return below(file)->pMethods->xClose(below(file));
}

// Returns the buffer for one page, or a null pointer if memory is exhausted.
static uint8_t *page_memory(CheckedFile *file, int size) {
    if (!file->page) file->page = malloc((size_t)size);
    return file->page;
}

// Reads bytes of the file.
static int read_below(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int code = below(file)->pMethods->xRead(below(file), bytes, count, offset);
    // SQLite would report a read that failed as a malformed database. It may succeed the next time.
    return code == SQLITE_IOERR_CORRUPTFS ? SQLITE_IOERR_READ : code;
}

// Determines whether the file has checksums, before a page after the first one is read or written.
//
// A store has its header from its first commit. Earlier versions created the store in the write-ahead log. As long as a
// reader needs the previous version of the first page, checkpoints write other pages without it.
static int find_header(sqlite3_file *file) {
    CheckedFile *checked = (CheckedFile *)file;
    if (checked->is_store) return SQLITE_OK;
    uint8_t header[header_size];
    int code = read_below(file, header, header_size, 0);
    if (code == SQLITE_OK) note_header(checked, header);
    return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

static int read_page(sqlite3_file *file, uint8_t *page, int size, sqlite3_int64 offset) {
    CheckedFile *checked = (CheckedFile *)file;
    int code = read_below(file, page, size, offset);
    if (code != SQLITE_OK) return code;
    uint64_t stored = load(page + size - checksum_size);
    if (stored == checksum(page, size, offset)) return SQLITE_OK;
    if (stored || !checked->accepts_missing) return SQLITE_IOERR_DATA;
    checked->missing_count++;
    return SQLITE_OK;
}

// Writes a checksum to the end of a page in memory.
static void store_checksum(uint8_t *page, int size, uint64_t sum) {
    for (int index = 0; index < checksum_size; index++) page[size - checksum_size + index] = (uint8_t)(sum >> 8 * index);
}

static int checked_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    CheckedFile *checked = (CheckedFile *)file;
    int code = offset < header_size ? SQLITE_OK : find_header(file);
    if (code != SQLITE_OK) return code;
    int size = checked->page_size;
    if (is_page(checked, count, offset) && offset > 0) return read_page(file, bytes, count, offset);
    if (size && offset >= size && offset % size + count < size) {
        // SQLite can read part of a page, for which there is no checksum: read and check the whole page.
        uint8_t *page = page_memory(checked, size);
        if (!page) return SQLITE_IOERR_NOMEM;
        code = read_page(file, page, size, offset - offset % size);
        if (code == SQLITE_OK) memcpy(bytes, page + offset % size, (size_t)count);
        return code;
    }
    code = read_below(file, bytes, count, offset);
    if (code != SQLITE_OK || offset > 0 || count < header_size) return code;
    note_header(checked, bytes);
    if (!is_page(checked, count, 0)) return SQLITE_OK;
    return load((uint8_t *)bytes + count - checksum_size) == checksum(bytes, count, 0) ? SQLITE_OK : SQLITE_IOERR_DATA;
}

static int checked_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    CheckedFile *checked = (CheckedFile *)file;
    int code = offset < header_size ? SQLITE_OK : find_header(file);
    if (code != SQLITE_OK) return code;
    if (offset == 0 && count >= header_size) note_header(checked, bytes);
    int is_expected = !checked->is_store && count == checked->expected_size && offset > 0 && offset % count == 0;
    if (!is_expected && !is_page(checked, count, offset)) {
        return below(file)->pMethods->xWrite(below(file), bytes, count, offset);
    }
    uint8_t *page = page_memory(checked, count);
    if (!page) return SQLITE_IOERR_NOMEM;
    memcpy(page, bytes, (size_t)count);
    store_checksum(page, count, checksum(page, count, offset));
    return below(file)->pMethods->xWrite(below(file), page, count, offset);
}

static int checked_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return below(file)->pMethods->xTruncate(below(file), size);
}

static int checked_sync(sqlite3_file *file, int flags) { return below(file)->pMethods->xSync(below(file), flags); }

static int checked_size(sqlite3_file *file, sqlite3_int64 *size) {
    return below(file)->pMethods->xFileSize(below(file), size);
}

static int checked_lock(sqlite3_file *file, int lock) { return below(file)->pMethods->xLock(below(file), lock); }

static int checked_unlock(sqlite3_file *file, int lock) { return below(file)->pMethods->xUnlock(below(file), lock); }

static int checked_reserved(sqlite3_file *file, int *result) {
    return below(file)->pMethods->xCheckReservedLock(below(file), result);
}

static int checked_control(sqlite3_file *file, int operation, void *argument) {
    return below(file)->pMethods->xFileControl(below(file), operation, argument);
}

static int checked_sector_size(sqlite3_file *file) { return below(file)->pMethods->xSectorSize(below(file)); }

static int checked_characteristics(sqlite3_file *file) {
    return below(file)->pMethods->xDeviceCharacteristics(below(file));
}

static int checked_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **address) {
    return below(file)->pMethods->xShmMap(below(file), region, size, extend, address);
}

static int checked_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return below(file)->pMethods->xShmLock(below(file), offset, count, flags);
}

static void checked_shm_barrier(sqlite3_file *file) { below(file)->pMethods->xShmBarrier(below(file)); }

static int checked_shm_unmap(sqlite3_file *file, int is_deleted) {
    return below(file)->pMethods->xShmUnmap(below(file), is_deleted);
}

static int checked_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **address) {
    *address = 0;
    int code = find_header(file);
    if (code != SQLITE_OK) return code;
    // Without an address, SQLite reads the page through xRead, which checks the checksum.
    if (((CheckedFile *)file)->page_size) return SQLITE_OK;
    return below(file)->pMethods->xFetch(below(file), offset, count, address);
}

static int checked_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *address) {
    return below(file)->pMethods->xUnfetch(below(file), offset, address);
}

static const sqlite3_io_methods checked_methods = {
    3,                     checked_close,           checked_read,        checked_write,    checked_truncate,
    checked_sync,          checked_size,            checked_lock,        checked_unlock,   checked_reserved,
    checked_control,       checked_sector_size,     checked_characteristics, checked_shm_map, checked_shm_lock,
    checked_shm_barrier,   checked_shm_unmap,       checked_fetch,       checked_unfetch,
};

// MARK: The VFS

static sqlite3_vfs *vfs_below(sqlite3_vfs *vfs) { return vfs->pAppData; }

static int checked_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
    sqlite3_vfs *base = vfs_below(vfs);
    if (!(flags & SQLITE_OPEN_MAIN_DB)) return base->xOpen(base, path, file, flags, out_flags);
    CheckedFile *checked = (CheckedFile *)file;
    memset(checked, 0, sizeof *checked);
    int code = base->xOpen(base, path, below(file), flags, out_flags);
    // A file with methods is closed even if opening it failed.
    if (below(file)->pMethods) checked->base.pMethods = &checked_methods;
    if (code == SQLITE_OK && below(file)->pMethods->iVersion < checked_methods.iVersion) {
        checked_close(file);
        checked->base.pMethods = 0;
        return SQLITE_CANTOPEN;
    }
    return code;
}

static int checked_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
    return vfs_below(vfs)->xDelete(vfs_below(vfs), path, syncs);
}

static int checked_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    return vfs_below(vfs)->xAccess(vfs_below(vfs), path, flags, result);
}

static int checked_full_path(sqlite3_vfs *vfs, const char *path, int count, char *result) {
    return vfs_below(vfs)->xFullPathname(vfs_below(vfs), path, count, result);
}

const char *tideline_register_checksums(uint32_t application_id, uint32_t user_version) {
    static sqlite3_vfs vfs;
    sqlite3_vfs *base = sqlite3_vfs_find(0);
    if (!base) return 0;
    marked_application_id = application_id;
    marked_user_version = user_version;
    // Everything else, such as random numbers, the time and the names of system calls, is unchanged.
    vfs = *base;
    vfs.pNext = 0;
    vfs.zName = vfs_name;
    vfs.pAppData = base;
    vfs.szOsFile = (int)sizeof(CheckedFile) + base->szOsFile;
    vfs.xOpen = checked_open;
    vfs.xDelete = checked_delete;
    vfs.xAccess = checked_access;
    vfs.xFullPathname = checked_full_path;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? vfs_name : 0;
}

int tideline_reserve_checksums(sqlite3 *database) {
    int count = checksum_size;
    return sqlite3_file_control(database, 0, SQLITE_FCNTL_RESERVE_BYTES, &count);
}

// MARK: Missing checksums

static CheckedFile *checked_file(sqlite3 *database) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(database, 0, SQLITE_FCNTL_FILE_POINTER, &file);
    return code == SQLITE_OK && file && file->pMethods == &checked_methods ? (CheckedFile *)file : 0;
}

void tideline_accept_missing_checksums(sqlite3 *database) {
    CheckedFile *file = checked_file(database);
    if (file) file->accepts_missing = 1;
}

int tideline_require_checksums(sqlite3 *database, int page_size) {
    CheckedFile *file = checked_file(database);
    if (!file) return 0;
    int count = file->missing_count;
    file->accepts_missing = file->missing_count = 0;
    file->expected_size = page_size;
    return count;
}

// Compares the checksums of all pages after the first one; see tideline_add_missing_checksums.
static int add_missing(CheckedFile *file, uint8_t *page, int size, int is_writing, int *missing, int *wrong) {
    sqlite3_file *base = below(&file->base);
    sqlite3_int64 end = 0;
    int code = base->pMethods->xFileSize(base, &end);
    for (sqlite3_int64 offset = size; code == SQLITE_OK && offset + size <= end; offset += size) {
        code = read_below(&file->base, page, size, offset);
        uint64_t sum = checksum(page, size, offset), stored = load(page + size - checksum_size);
        if (code != SQLITE_OK || stored == sum) continue;
        if (stored) {
            ++*wrong;
            continue;
        }
        ++*missing;
        store_checksum(page, size, sum);
        sqlite3_int64 end_of_page = offset + size - checksum_size;
        if (is_writing) code = base->pMethods->xWrite(base, page + size - checksum_size, checksum_size, end_of_page);
    }
    if (code == SQLITE_OK && is_writing) code = base->pMethods->xSync(base, SQLITE_SYNC_FULL);
    return code;
}

int tideline_add_missing_checksums(sqlite3 *database, int page_size, int is_writing, int *missing, int *wrong) {
    // The lock of a checkpoint, WAL_CKPT_LOCK: others do not write pages meanwhile.
    const int lock = 1;
    CheckedFile *file = checked_file(database);
    *missing = *wrong = 0;
    if (!file) return SQLITE_CANTOPEN;
    sqlite3_file *base = below(&file->base);
    uint8_t *page = malloc((size_t)page_size);
    if (!page) return SQLITE_NOMEM;
    int code = base->pMethods->xShmLock(base, lock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    if (code == SQLITE_OK) {
        code = add_missing(file, page, page_size, is_writing, missing, wrong);
        base->pMethods->xShmLock(base, lock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    }
    free(page);
    return code;
}
