internal import Foundation

#if canImport(Darwin)
internal import Darwin
#endif

/// The open files of this process below a directory.
enum OpenFiles {
    /// Returns the paths of all files below a directory that this process has open or mapped, without duplicates.
    static func below(_ folder: String) throws -> [String] {
        try all().filter { $0 == folder || $0.hasPrefix("\(folder)/") }.sorted()
    }

    #if canImport(Darwin)
    private static func all() throws -> [String] {
        var path = [CChar](repeating: 0, count: Int(MAXPATHLEN))
        return (0..<getdtablesize()).compactMap { descriptor in
            path.withUnsafeMutableBufferPointer { path in
                guard let start = path.baseAddress, fcntl(descriptor, F_GETPATH, start) == 0 else { return nil }
                return String(cString: start)
            }
        }
    }
    #else
    private static func all() throws -> [String] {
        let manager = FileManager.default
        guard let handles = try? manager.contentsOfDirectory(atPath: "/proc/self/fd"),
            let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        else { throw HarnessError("the open files of this process cannot be determined on this system") }
        // A handle may have been closed since the directory was listed.
        let open = handles.compactMap { try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        let mapped = maps.split(separator: "\n").compactMap { line in
            line.firstIndex(of: "/").map { String(line[$0...]) }
        }
        return open + mapped
    }
    #endif
}

extension CheckContext {
    /// Returns the sorted names in a directory of the check, or an empty array if the directory does not exist.
    func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    /// Creates a file below the check's own directory, and returns its path.
    @discardableResult
    func file(_ name: String, _ content: String) throws -> String {
        let path = "\(directory)/\(name)"
        guard FileManager.default.createFile(atPath: path, contents: Data(content.utf8)) else {
            throw HarnessError("the file \(path) cannot be created")
        }
        return path
    }

    /// Returns the content of a file, or `nil` if it does not exist.
    func content(of path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
