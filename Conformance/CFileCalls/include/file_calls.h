/// Observation of the file calls of this process; see observer.c.
#ifndef TIDELINE_FILE_CALLS_H
#define TIDELINE_FILE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/// The kind of a call.
typedef enum {
    /// Opens a file that exists.
    tideline_open,
    /// Creates an empty file.
    tideline_create,
    tideline_read,
    tideline_write,
    /// Sets the size of a file to `offset`.
    tideline_resize,
    /// Waits until a file's content is on the disk.
    tideline_sync,
    /// Waits until a directory's names are on the disk.
    tideline_sync_directory,
    tideline_rename,
    tideline_link,
    tideline_unlink,
    tideline_make_directory,
    tideline_remove_directory,
    /// Maps a file for shared writing.
    tideline_map,
} tideline_file_call_kind;

/// A call that is about to be made or was made.
typedef struct {
    tideline_file_call_kind kind;
    /// The absolute path of the file or directory.
    const char *path;
    /// The new path of a rename or link.
    const char *destination;
    /// The file's inode number; 0 for a file that does not exist yet.
    uint64_t file;
    /// The length of the file before the call.
    int64_t size;
    /// The offset of a read or write, or the new size of a resized file.
    int64_t offset;
    /// The number of bytes to read or write.
    int64_t length;
    /// The bytes to write.
    const void *bytes;
    /// Whether a write waits until its data is on the disk (`O_DSYNC`).
    bool is_synced;
    /// Whether a new file has no name (`O_TMPFILE`); the path is then that of the directory.
    bool is_nameless;
    /// Whether a file is opened for writing.
    bool is_for_writing;
} tideline_file_call;

/// The outcome of a call.
typedef struct {
    /// Whether the observer watches the file. If not, the other fields are ignored.
    bool is_watched;
    /// Whether to return success without doing anything.
    bool is_skipped;
    /// The error to fail with, or 0 for none.
    int error;
    /// The maximum number of bytes to read or write, or a negative value for no limit.
    int64_t length;
} tideline_file_decision;

/// The observer of calls. Both functions receive one call at a time, and their own calls are not observed.
typedef struct {
    tideline_file_decision (*decide)(const tideline_file_call *);
    /// Called after a permitted call has succeeded.
    void (*performed)(const tideline_file_call *);
} tideline_file_observer;

/// Whether calls can be observed in this build.
bool tideline_can_observe_files(void);

/// Starts the observation of all threads' calls. The observer is the same every time and must never be freed.
void tideline_begin_observing_files(const tideline_file_observer *observer);

/// Ends one observation that `tideline_begin_observing_files` started.
void tideline_end_observing_files(void);

#endif
