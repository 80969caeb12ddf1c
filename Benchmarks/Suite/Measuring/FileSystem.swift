#if Commands
internal import Foundation

/// Queries about files and file systems.
enum FileSystem {
    /// The number of free bytes, or `nil` if it is unknown.
    static func freeBytes(at path: String) -> Int? {
        var info = statvfs()
        guard statvfs(path, &info) == 0 else { return nil }
        let (bytes, isTooBig) = Int(clamping: info.f_bavail).multipliedReportingOverflow(
            by: Int(clamping: info.f_frsize))
        return isTooBig ? Int.max : bytes
    }

    /// Writes the cached data of a directory's file system to disk.
    static func flush(_ path: String) {
        let folder = open(path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        CLibrary.flush(folder)
        close(folder)
    }

    /// The name of the file system, such as `ext4`.
    static func name(of path: String) -> String {
        #if canImport(Darwin)
        var info = statfs()
        guard statfs(path, &info) == 0 else { return "unknown" }
        return withUnsafeBytes(of: info.f_fstypename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        #else
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        return SystemFile.text("/proc/self/mountinfo").flatMap { name(of: path, mounts: $0) } ?? "unknown"
        #endif
    }

    /// The name of the file system with the mount point nearest to a path; of several at one mount point, the last.
    /// - Parameter mounts: The content of `/proc/self/mountinfo`; see `proc(5)`.
    static func name(of path: String, mounts: String) -> String? {
        var nearest: (point: String, name: String)?
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 5, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count else { continue }
            let point = unescaped(fields[4])
            let isAbove = path == point || path.hasPrefix(point.hasSuffix("/") ? point : point + "/")
            guard isAbove, point.count >= nearest?.point.count ?? 0 else { continue }
            nearest = (point, String(fields[dash + 1]))
        }
        return nearest?.name
    }

    /// Decodes octal escapes, such as `\040` for a space.
    private static func unescaped(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            let code = String(decoding: rest.prefix(3), as: UTF8.self)
            if byte == UInt8(ascii: "\\"), code.utf8.count == 3, let escaped = UInt8(code, radix: 8) {
                bytes.append(escaped)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The allocated size of the files in a directory, without holes. Files that are removed meanwhile are ignored.
    static func size(ofFolder path: String) -> Int {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.reduce(0) { $0 + size(ofFile: "\(path)/\($1)") }
    }

    private static func size(ofFile path: String) -> Int {
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return 0 }
        return min(Int(info.st_size), Int(info.st_blocks) * 512)
    }
}
#endif
