// A checksum in each page of an SQLite database.
//
// SQLite keeps no checksums in a database file: a value with a bit that flipped is read as another value. This VFS stands
// between SQLite and the file. It writes a checksum into the last eight bytes of each page, which SQLite leaves free, and
// compares it whenever the page is read. Pages enter the file from the write-ahead log, at a checkpoint; the log has
// checksums of SQLite's own.
//
// See "Reserved bytes per page" in https://sqlite.org/fileformat2.html and https://sqlite.org/vfs.html.
#ifndef TIDELINE_CSQLITE_CHECKSUMS_H
#define TIDELINE_CSQLITE_CHECKSUMS_H

#include <sqlite3.h>
#include <stdint.h>

// The result of a read that found another checksum, which is a macro that Swift cannot import.
static const int tideline_wrong_checksum = SQLITE_IOERR_DATA;

// Registers the VFS and returns its name, or a null pointer if there is no VFS below it. To be called once.
//
// A database has checksums if its header has this application_id, and this user_version. Others are read and
// written as without the VFS.
const char *tideline_register_checksums(uint32_t application_id, uint32_t user_version);

// Leaves room for checksums in the pages of an empty database, which must be open through the VFS.
int tideline_reserve_checksums(sqlite3 *database);

// The checksum of a page: `count` bytes, a multiple of 32, without the last eight.
uint64_t tideline_page_checksum(const uint8_t *page, int count, uint64_t number);

#endif
