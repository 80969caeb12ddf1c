// zlib, with wrappers for the parts of its interface that Swift cannot import: its initializers are macros.
#ifndef TIDELINE_CZLIB_SHIM_H
#define TIDELINE_CZLIB_SHIM_H

#if !__has_include(<zlib.h>)
#error "zlib is not installed: run `make dependencies`, or install zlib1g-dev (Debian, Ubuntu) or zlib (Homebrew)"
#endif

#include <zlib.h>

// Begins a compression in the format of gzip.
static inline int tideline_begin_gzip(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
