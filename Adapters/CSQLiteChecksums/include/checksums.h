// A checksum in each page of an SQLite database.
//
// SQLite keeps no checksums in a database file, so a flipped bit in a value is read as a different value. This VFS sits
// between SQLite and the file. It writes a checksum into the last eight bytes of each page, which SQLite leaves free,
// and compares it whenever the page is read. Pages enter the file from the write-ahead log at a checkpoint; the log has
// SQLite's own checksums.
//
// See "Reserved bytes per page" in https://sqlite.org/fileformat2.html and https://sqlite.org/vfs.html.
#ifndef TIDELINE_CSQLITE_CHECKSUMS_H
#define TIDELINE_CSQLITE_CHECKSUMS_H

#include <sqlite3.h>
#include <stdint.h>

// The result of a read whose checksum does not match; SQLITE_IOERR_DATA is a macro that Swift cannot import.
static const int tideline_wrong_checksum = SQLITE_IOERR_DATA;

// Registers the VFS and returns its name, or a null pointer if there is no underlying VFS. Call it once.
//
// A database has checksums if its header has this application_id and this user_version. Other databases are read and
// written as without the VFS.
const char *tideline_register_checksums(uint32_t application_id, uint32_t user_version);

// Reserves space for checksums in the pages of an empty database, which must be open through the VFS.
int tideline_reserve_checksums(sqlite3 *database);

// Earlier versions created a store in the write-ahead log, and could write pages to the file without their checksums
// before its header was in the file. Such a page has the checksum 0.

// Accepts pages without a checksum, until tideline_require_checksums is called.
void tideline_accept_missing_checksums(sqlite3 *database);

// Rejects pages without a checksum from now on, and writes each page with one even if the header is not in the file yet.
// Returns the number of pages without a checksum that were read before.
int tideline_require_checksums(sqlite3 *database, int page_size);

// Counts the pages of the file whose checksum is missing and those whose checksum is wrong, and writes the missing ones
// if is_writing is not 0. The connection must have read the database in the mode of the write-ahead log. Returns
// SQLITE_BUSY during a checkpoint of another connection.
int tideline_add_missing_checksums(sqlite3 *database, int page_size, int is_writing, int *missing, int *wrong);

// Returns the checksum of a page of `count` bytes, a multiple of 32, excluding its last eight bytes.
uint64_t tideline_page_checksum(const uint8_t *page, int count, uint64_t number);

#endif
