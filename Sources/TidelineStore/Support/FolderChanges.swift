#if !os(Windows)
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#elseif os(WASI)
internal import WASILibc
#endif

/// Determines with one system call that no file of a folder was created, removed, renamed, or replaced, so that the
/// files themselves need not be checked.
///
/// A file system records when the entries of a folder change, but many in steps of up to ten milliseconds, and old
/// ones, which record no fractions, of up to two seconds. Therefore, a folder that changed shortly before its files
/// were checked is checked again.
package struct FolderChanges: Sendable {
    private let path: [CChar]
    /// The state of the folder when its files were checked, if it had not changed shortly before.
    private var known: State?

    /// - Parameter path: The path of the folder.
    package init(_ path: String) { self.path = Array(path.utf8CString) }

    /// Calls `check`, unless the folder has not changed since an earlier call in which it succeeded.
    ///
    /// - Parameter now: The current time in nanoseconds since 1970; by default, that of the system.
    /// - Throws: The error of `check`.
    package mutating func recheck(
        now: Int64? = nil, _ check: () throws(StoreError) -> Void
    ) throws(StoreError) {
        // Read before the check, so that a change during the check leads to another one.
        let current = State(of: path)
        if let current, current == known { return }
        try check()
        if let current, current.time + current.longestStep < now ?? Self.currentTime() { known = current }
    }

    private static func currentTime() -> Int64 {
        var time = timespec()
        return unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 ? nanoseconds(of: time) : 0
    }

    private static func nanoseconds(of time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private struct State: Equatable {
        var device: UInt64
        var number: UInt64
        /// The time of the last change, in nanoseconds since 1970.
        var time: Int64

        /// More than the longest step in which a file system like this one records times, in nanoseconds.
        var longestStep: Int64 { time % 1_000_000_000 == 0 ? 2_000_000_000 : 50_000_000 }

        init?(of path: [CChar]) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
            #if canImport(Darwin)
            time = nanoseconds(of: status.st_ctimespec)
            #else
            time = nanoseconds(of: status.st_ctim)
            #endif
        }
    }
}
#endif
