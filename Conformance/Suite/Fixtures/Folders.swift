internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#endif

/// What of this process is open below a folder.
enum OpenFiles {
    /// The paths of all files below a folder of which this process has a handle or a map, once for each.
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
            else { throw KitError("the open files of this process cannot be told on this system") }
            // A handle may be closed since the folder was listed.
            let open = handles.compactMap { try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            let mapped = maps.split(separator: "\n").compactMap { line in
                line.firstIndex(of: "/").map { String(line[$0...]) }
            }
            return open + mapped
        }
    #endif
}

extension Trial {
    /// The names in a folder of the check, sorted; none where there is no such folder.
    func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    /// Makes a file below the check's own folder.
    /// - Returns: Its path.
    @discardableResult
    func file(_ name: String, _ content: String) throws -> String {
        let path = "\(directory)/\(name)"
        guard FileManager.default.createFile(atPath: path, contents: Data(content.utf8)) else {
            throw KitError("the file \(path) cannot be made")
        }
        return path
    }

    /// The content of a file, nil when there is none.
    func content(of path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
