internal import CLMDB
internal import Foundation

/// System calls whose names are hidden by Swift declarations where they are used.
enum SystemCalls {
    static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 { Foundation.open(path, flags, mode) }

    static func lock(_ descriptor: Int32) -> Bool {
        while tideline_lmdb_flock(descriptor, LOCK_EX) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }

    static func unlock(_ descriptor: Int32) { _ = tideline_lmdb_flock(descriptor, LOCK_UN) }
}
