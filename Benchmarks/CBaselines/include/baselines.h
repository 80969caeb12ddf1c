// The benchmark's work on the C interfaces of the engines, for one table: the limit for the stores' figures.
//
// Functions that can fail return 0 for success, or 1 with the engine's message in the error.
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

// The offsets and lengths of a row and its id in a buffer, as in PackedRows.
typedef struct {
    intptr_t row;
    intptr_t row_length;
    intptr_t id;
    intptr_t id_length;
} baseline_entry;

// Rows in the packed format of TidelineStore (RowFormat.swift), with their ids.
typedef struct {
    const uint8_t *buffer;
    const baseline_entry *entries;
    size_t count;
} baseline_rows;

// See Answer.
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

// The columns of the table without the id, and the indexes of special columns. It must outlive all objects that use it.
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

// An engine. A database has one write transaction at a time; a reader is used on one thread at a time.
typedef struct {
    const char *(*version)(void);
    // Opens or creates the database in a directory.
    int (*open)(
        const char *folder, const baseline_table *table, baseline_durability durability, baseline_database **database,
        baseline_error *error);
    // All readers must be destroyed.
    int (*close)(baseline_database *database, baseline_error *error);

    int (*begin)(baseline_database *database, baseline_error *error);
    int (*commit)(baseline_database *database, baseline_error *error);
    void (*roll_back)(baseline_database *database);
    // Inserts or replaces whole rows. Called once in a transaction.
    int (*upsert)(baseline_database *database, baseline_rows rows, baseline_error *error);
    // Puts an operation for each row into a queue: a table with the columns of a client's queue, by number and by row.
    int (*enqueue)(baseline_database *database, baseline_rows rows, baseline_error *error);
    // Changes the text of a row if it exists; the answer counts it. If `reads`, the answer includes the old row.
    int (*change_text)(
        baseline_database *database, baseline_bytes id, baseline_bytes text, bool reads, baseline_answer *answer,
        baseline_error *error);
    // Called once in a transaction.
    int (*delete_ids)(
        baseline_database *database, const baseline_bytes *ids, size_t count, baseline_answer *answer,
        baseline_error *error);
    int (*delete_list)(
        baseline_database *database, baseline_bytes list, baseline_answer *answer, baseline_error *error);
    // Stores the token of a pull.
    int (*put_token)(baseline_database *database, int64_t ticks, baseline_error *error);
    // The token, or 0 if there is none.
    int (*get_token)(baseline_database *database, int64_t *ticks, baseline_error *error);

    int (*make_reader)(baseline_database *database, baseline_reader **reader, baseline_error *error);
    void (*destroy_reader)(baseline_reader *reader);
    // Begins a snapshot; a single read may need none.
    int (*begin_reading)(baseline_reader *reader, bool is_single, baseline_error *error);
    int (*end_reading)(baseline_reader *reader, bool is_single, baseline_error *error);
    // Adds to the answer; scans and queries number their rows from 1.
    int (*get)(baseline_reader *reader, baseline_bytes id, baseline_answer *answer, baseline_error *error);
    // All rows in order of id, or up to `limit` rows from an id on if it is not null.
    int (*scan)(
        baseline_reader *reader, const baseline_bytes *from, size_t limit, baseline_answer *answer,
        baseline_error *error);
    // The first rows of a list in order of rank and id.
    int (*find)(
        baseline_reader *reader, baseline_bytes list, size_t limit, baseline_answer *answer, baseline_error *error);
    int (*count)(baseline_reader *reader, baseline_bytes list, baseline_answer *answer, baseline_error *error);

    // Compacts the closed database at a path, which another program may have created.
    int (*compact)(const char *path, baseline_error *error);
} baseline_engine;

const baseline_engine *baseline_engine_sqlite(void);
const baseline_engine *baseline_engine_lmdb(void);
const baseline_engine *baseline_engine_leveldb(void);

// Reads by id, each in its own snapshot or all in the open one, and their latencies in nanoseconds. In one snapshot, only one
// read in `sampling` is timed. `first` is the number of earlier ids of the same work; `times` has a slot for each id.
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

// A parser for pages of JSON, the arrays of rows that a service sends, to packed rows, with simdjson.
typedef struct baseline_parser baseline_parser;

const char *baseline_parser_version(void);
int baseline_make_parser(const baseline_table *table, baseline_parser **parser, baseline_error *error);
void baseline_destroy_parser(baseline_parser *parser);
// Appends the rows of a page.
int baseline_parse(baseline_parser *parser, const uint8_t *page, size_t length, baseline_error *error);
// The parsed rows, valid until more are appended.
baseline_rows baseline_parsed_rows(const baseline_parser *parser);
// The number and the checksum of the parsed rows.
baseline_answer baseline_parsed_answer(const baseline_parser *parser);
// The greatest updatedAt of the parsed rows.
int64_t baseline_parsed_token(const baseline_parser *parser);
void baseline_forget_rows(baseline_parser *parser);

// Only calls work(context): `valgrind --tool=callgrind --toggle-collect=tideline_measured` counts this call on its
// thread.
void tideline_measured(void (*work)(void *), void *context);
// Starts instrumentation and calls tideline_measured(), for valgrind with --instr-atstart=no, which runs the
// uninstrumented part fifty times faster. Without valgrind it is a plain call.
void tideline_measure(void (*work)(void *), void *context);
// Whether the program was built with valgrind's headers, which tideline_measure() needs to start counting.
int tideline_can_measure(void);

#ifdef __cplusplus
}
#endif

#endif
