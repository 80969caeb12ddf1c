internal import Foundation

/// Calls of the C library that only Linux has, and that Swift does not see.
enum CLibrary {
    /// Gives memory that was freed back to the system: `malloc_trim`.
    static func trimMemory() { _ = trim?(0) }

    /// Writes to the disk what waits for it, of the file system that an open file is on: `syncfs`; elsewhere of all.
    static func flush(_ file: Int32) { if let syncfs { _ = syncfs(file) } else { sync() } }

    private static let trim = function("malloc_trim", as: (@convention(c) (Int) -> Int32).self)
    private static let syncfs = function("syncfs", as: (@convention(c) (Int32) -> Int32).self)

    private static func function<F>(_ name: String, as type: F.Type) -> F? {
        #if canImport(Darwin)
            nil
        #else
            dlsym(nil, name).map { unsafeBitCast($0, to: type) }
        #endif
    }
}
