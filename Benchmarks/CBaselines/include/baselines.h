// The benchmark's work on the engines' own C interfaces, written by hand for one table: the limit that the stores are
// held against.
//
// Functions that can fail return 0, or 1 with the engine's own words in the error.
#ifndef TIDELINE_BASELINES_H
#define TIDELINE_BASELINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const uint8_t *start;
    size_t length;
} baseline_bytes;

// Where a row and its id lie in a buffer, as PackedRows keeps it.
typedef struct {
    intptr_t row;
    intptr_t row_length;
    intptr_t id;
    intptr_t id_length;
} baseline_entry;

// Rows in the packed format of TidelineStore (RowFormat.swift), each with its id.
typedef struct {
    const uint8_t *buffer;
    const baseline_entry *entries;
    size_t count;
} baseline_rows;

// What work came to; see Answer.
typedef struct {
    uint64_t count;
    uint64_t checksum;
} baseline_answer;

typedef struct {
    char text[256];
} baseline_error;

typedef enum {
    BASELINE_BOOL,
    BASELINE_INT,
    BASELINE_DOUBLE,
    BASELINE_STRING,
    BASELINE_TIMESTAMP,
} baseline_type;

// The table's columns, without the id, and which of them the work goes by. All of it outlives what is made with it.
typedef struct {
    const char *const *names;
    const baseline_type *types;
    unsigned count;
    unsigned text;
    unsigned list;
    unsigned rank;
    unsigned updated_at;
    bool is_indexed;
} baseline_table;

typedef enum {
    BASELINE_NONE,
    BASELINE_NORMAL,
    BASELINE_FULL,
} baseline_durability;

typedef struct baseline_database baseline_database;
typedef struct baseline_reader baseline_reader;

// One engine. A database has one write transaction at a time; a reader belongs to one thread at a time.
typedef struct {
    const char *(*version)(void);
    // Opens the database in a folder, or makes it there.
    int (*open)(
        const char *folder, const baseline_table *table, baseline_durability durability, baseline_database **database,
        baseline_error *error);
    // All readers are gone by now.
    int (*close)(baseline_database *database, baseline_error *error);

    int (*begin)(baseline_database *database, baseline_error *error);
    int (*commit)(baseline_database *database, baseline_error *error);
    void (*roll_back)(baseline_database *database);
    // Inserts or replaces whole rows. Called once in a transaction.
    int (*upsert)(baseline_database *database, baseline_rows rows, baseline_error *error);
    // Changes the text of a row if there is one; the answer counts it. When `reads`, the answer has the row as it was.
    int (*change_text)(
        baseline_database *database, baseline_bytes id, baseline_bytes text, bool reads, baseline_answer *answer,
        baseline_error *error);
    // Called once in a transaction.
    int (*delete_ids)(
        baseline_database *database, const baseline_bytes *ids, size_t count, baseline_answer *answer,
        baseline_error *error);
    int (*delete_list)(
        baseline_database *database, baseline_bytes list, baseline_answer *answer, baseline_error *error);
    // Keeps up to when a pull has come.
    int (*put_token)(baseline_database *database, int64_t ticks, baseline_error *error);
    // What was kept last, 0 when nothing was.
    int (*get_token)(baseline_database *database, int64_t *ticks, baseline_error *error);

    int (*make_reader)(baseline_database *database, baseline_reader **reader, baseline_error *error);
    void (*destroy_reader)(baseline_reader *reader);
    // Begins a snapshot; one for a single read may be the engine's own.
    int (*begin_reading)(baseline_reader *reader, bool is_single, baseline_error *error);
    int (*end_reading)(baseline_reader *reader, bool is_single, baseline_error *error);
    // Answers add up, but in each scan and query rows are numbered from 1.
    int (*get)(baseline_reader *reader, baseline_bytes id, baseline_answer *answer, baseline_error *error);
    // All rows, or up to `limit` from the id on where it is not null, in order of id.
    int (*scan)(
        baseline_reader *reader, const baseline_bytes *from, size_t limit, baseline_answer *answer,
        baseline_error *error);
    // The first rows of a list, in order of rank, then id.
    int (*find)(
        baseline_reader *reader, baseline_bytes list, size_t limit, baseline_answer *answer, baseline_error *error);
    int (*count)(baseline_reader *reader, baseline_bytes list, baseline_answer *answer, baseline_error *error);

    // Makes the closed database at a path, of whatever program, as small as it gets.
    int (*compact)(const char *path, baseline_error *error);
} baseline_engine;

const baseline_engine *baseline_engine_sqlite(void);
const baseline_engine *baseline_engine_lmdb(void);
const baseline_engine *baseline_engine_leveldb(void);

// Reads rows by id, each within a snapshot of its own or all in the one that is open, and notes the nanoseconds of each
// read, in one snapshot of one in `sampling` only. `first` is how many ids of the same work came before; there is room for
// as many times as ids.
typedef struct {
    const baseline_engine *engine;
    baseline_reader *reader;
    bool is_each;
    size_t sampling;
    size_t first;
    uint64_t *times;
    size_t time_count;
} baseline_gets;

int baseline_get(
    baseline_gets *gets, const baseline_bytes *ids, size_t count, baseline_answer *answer, baseline_error *error);

// A reader of pages of JSON, by simdjson: an array of rows as a service answers it, to packed rows.
typedef struct baseline_parser baseline_parser;

const char *baseline_parser_version(void);
int baseline_make_parser(const baseline_table *table, baseline_parser **parser, baseline_error *error);
void baseline_destroy_parser(baseline_parser *parser);
// Adds the rows of a page to those there are.
int baseline_parse(baseline_parser *parser, const uint8_t *page, size_t length, baseline_error *error);
// The rows so far, until more are added.
baseline_rows baseline_parsed_rows(const baseline_parser *parser);
// Their number, and theirs added up.
baseline_answer baseline_parsed_answer(const baseline_parser *parser);
// The greatest updatedAt of them.
int64_t baseline_parsed_token(const baseline_parser *parser);
void baseline_forget_rows(baseline_parser *parser);

#ifdef __cplusplus
}
#endif

#endif
