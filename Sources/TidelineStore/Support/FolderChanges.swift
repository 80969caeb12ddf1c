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

/// Determines with one system call that no file of a folder was created, removed, renamed, or replaced, so that the files
/// themselves need not be checked.
///
/// A file system records when the entries of a folder change, but many in steps of some milliseconds, and old ones of two
/// seconds. Therefore, a folder that changed shortly before its files were checked is checked again.
package struct FolderChanges: Sendable {
    private let path: String
    /// The state of the folder when its files were checked, if it had not changed shortly before.
    private var known: State?

    /// - Parameter path: The path of the folder.
    package init(_ path: String) { self.path = path }

    /// Calls `check`, unless the folder has not changed since an earlier call in which it succeeded.
    ///
    /// - Parameter now: The current time in seconds since 1970; by default, that of the system.
    /// - Throws: The error of `check`.
    package mutating func recheck(
        now: Int? = nil, _ check: () throws(StoreError) -> Void
    ) throws(StoreError) {
        // Read before the check, so that a change during the check leads to another one.
        let current = State(of: path)
        if let current, current == known { return }
        try check()
        if let current, current.seconds + Self.longestStep < now ?? Self.currentTime() { known = current }
    }

    private static let longestStep = 2

    private static func currentTime() -> Int {
        var time = timespec()
        return unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 ? Int(time.tv_sec) : 0
    }

    private struct State: Equatable {
        var device: UInt64
        var number: UInt64
        var seconds: Int
        var nanoseconds: Int

        init?(of path: String) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
            #if canImport(Darwin)
            let time = status.st_ctimespec
            #else
            let time = status.st_ctim
            #endif
            (seconds, nanoseconds) = (Int(time.tv_sec), Int(time.tv_nsec))
        }
    }
}
#endif
