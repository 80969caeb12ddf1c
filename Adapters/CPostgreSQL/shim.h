// libpq, PostgreSQL's client library, with wrappers for the parts of its interface that Swift cannot import.
#ifndef TIDELINE_CPOSTGRESQL_SHIM_H
#define TIDELINE_CPOSTGRESQL_SHIM_H

#if !__has_include(<libpq-fe.h>)
#error "libpq is not installed: run `make all-dependencies`, or install libpq-dev (Debian, Ubuntu) or libpq (Homebrew)"
#endif

#include <libpq-fe.h>
#include <stddef.h>

// Returns the five characters of an error's SQLSTATE, or a null pointer if the server did not send one.
static inline const char *tideline_sqlstate(const PGresult *result) {
    return result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
}

// Returns the server's message without details, which can contain values of rows, or a null pointer.
static inline const char *tideline_primary_message(const PGresult *result) {
    return result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
}

static inline void tideline_ignore_notice(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

// Discards notices, which libpq otherwise prints to the standard error.
static inline void tideline_silence(PGconn *connection) {
    PQsetNoticeReceiver(connection, tideline_ignore_notice, NULL);
}

#endif
