// Prepares the process of the tests before their library reads its settings, so that `swift test` needs no options.
#include <stdlib.h>
#include <sys/resource.h>

// Many systems let a process open 256 or 1,024 files unless it asks for more. Each sync test opens the files of a client and
// a server, so that all tests at once would exceed even a high limit: at most eight run at a time.
__attribute__((constructor)) static void set_defaults(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        // macOS does not allow more than this.
        rlim_t most = files.rlim_max < 10240 ? files.rlim_max : 10240;
        if (files.rlim_cur < most) {
            files.rlim_cur = most;
            setrlimit(RLIMIT_NOFILE, &files);
        }
    }
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "8", 0);
}
