internal import Foundation

/// The file system that a folder lies on.
enum FileSystem {
    /// How many bytes may still be written there; nil when the system does not tell.
    static func freeBytes(at path: String) -> Int? {
        var info = statvfs()
        guard statvfs(path, &info) == 0 else { return nil }
        let (bytes, isTooBig) = Int(clamping: info.f_bavail).multipliedReportingOverflow(
            by: Int(clamping: info.f_frsize))
        return isTooBig ? Int.max : bytes
    }

    /// Writes to the disk what waits for it, of all files on the folder's file system.
    static func flush(_ path: String) {
        let folder = open(path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        CLibrary.flush(folder)
        close(folder)
    }

    /// Its name, such as `ext4`.
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

    /// The name of the file system that is mounted nearest above a path; of several at one place the last hides the others.
    /// - Parameter mounts: As `/proc/self/mountinfo` has them; see `proc(5)`.
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

    /// Blanks and the like stand there as a backslash and three octal digits.
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
}

/// The sizes of files, as the disk has them.
enum FileSize {
    /// How many bytes the files in a folder have; holes in them do not count. Files that go meanwhile are passed over.
    static func bytes(inFolder path: String) -> Int {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.reduce(0) { $0 + bytes(ofFile: "\(path)/\($1)") }
    }

    private static func bytes(ofFile path: String) -> Int {
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return 0 }
        return min(Int(info.st_size), Int(info.st_blocks) * 512)
    }
}
