/// The file calls of this process, observed: see observer.c.
#ifndef TIDELINE_FILE_CALLS_H
#define TIDELINE_FILE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/// What a call does.
typedef enum {
    /// Opens a file that exists.
    tideline_open,
    /// Makes an empty file.
    tideline_create,
    tideline_read,
    tideline_write,
    /// Gives a file a size: `offset`.
    tideline_resize,
    /// Waits until a file's content is on the disk.
    tideline_sync,
    /// Waits until a folder's names are on the disk.
    tideline_sync_directory,
    tideline_rename,
    tideline_link,
    tideline_unlink,
    tideline_make_directory,
    tideline_remove_directory,
    /// Maps a file for writing, shared.
    tideline_map,
} tideline_file_call_kind;

/// A call that is about to be made, or was.
typedef struct {
    tideline_file_call_kind kind;
    /// The file or folder, from the root on.
    const char *path;
    /// The new name that a rename or a link gives.
    const char *destination;
    /// The file's number in its file system; 0 for one that does not exist yet.
    uint64_t file;
    /// How long the file was before.
    int64_t size;
    /// Where a read or write begins; the size that a file gets.
    int64_t offset;
    /// How many bytes are read or written.
    int64_t length;
    /// The bytes that are written.
    const void *bytes;
    /// Whether a write waits until it is on the disk (`O_DSYNC`).
    bool is_synced;
    /// Whether a new file has no name (`O_TMPFILE`); the path is the folder's then.
    bool is_nameless;
} tideline_file_call;

/// What is to happen to a call.
typedef struct {
    /// Whether the observer cares about the file at all; nothing else counts when it does not.
    bool is_watched;
    /// Whether to return success without doing anything.
    bool is_skipped;
    /// The error to fail with; 0 for none.
    int error;
    /// How many bytes to read or write of those asked for; negative for all.
    int64_t length;
} tideline_file_decision;

/// Who is told of calls. Both are called one call at a time, and no call that they make is observed.
typedef struct {
    tideline_file_decision (*decide)(const tideline_file_call *);
    /// After a call that was decided on has succeeded.
    void (*performed)(const tideline_file_call *);
} tideline_file_observer;

/// Whether calls can be observed in this build.
bool tideline_can_observe_files(void);

/// Begins to tell of all threads' calls. The observer is the same every time, and stays valid for good.
void tideline_begin_observing_files(const tideline_file_observer *observer);

/// Ends what one call of `tideline_begin_observing_files` began.
void tideline_end_observing_files(void);

#endif
