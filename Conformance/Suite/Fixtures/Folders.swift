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

    /// Replaces the content of all files below a folder, and returns their paths.
    @discardableResult
    func replaceFiles(below folder: String, by content: String) throws -> [String] {
        let files = Permissions.contents(of: folder).files
        for path in files {
            guard (try? Data(content.utf8).write(to: URL(fileURLWithPath: path))) != nil else {
                throw HarnessError("the file \(path) cannot be replaced")
            }
        }
        return files
    }

    /// Returns the content of a file, or `nil` if it does not exist.
    func content(of path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Denies permissions for the files and folders below a folder temporarily.
enum Permissions {
    /// The access that is denied.
    enum Access {
        /// Writing to files, and creating or removing them.
        case writing
        /// All access to files.
        case files
        /// All access to files and folders.
        case everything

        fileprivate var ofFiles: Int { self == .writing ? 0o444 : 0 }
        fileprivate var ofFolders: Int {
            switch self {
            case .writing: 0o555
            case .files: 0o755
            case .everything: 0
            }
        }
    }

    /// Runs `body` while access is denied below a folder; throws ``NotDecidable`` if this process is not restricted.
    static func deny(_ access: Access, below folder: String, _ body: () throws -> Void) throws {
        let (files, folders) = contents(of: folder)
        // A folder loses its permissions after its content, and regains them before.
        for path in files { chmod(path, mode_t(access.ofFiles)) }
        for path in folders.reversed() { chmod(path, mode_t(access.ofFolders)) }
        defer {
            for path in folders { chmod(path, 0o755) }
            for path in files { chmod(path, 0o644) }
        }
        try Superuser.withoutPrivileges {
            let isDenied =
                access == .writing
                ? faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) != 0
                : (files + folders).contains { faccessat(AT_FDCWD, $0, R_OK, AT_EACCESS) != 0 }
            guard isDenied else { throw NotDecidable("permissions do not restrict the user of this process") }
            try body()
        }
    }

    /// Returns the files below a folder, and the folders, of which the first is the folder itself.
    static func contents(of folder: String) -> (files: [String], folders: [String]) {
        var files: [String] = []
        var folders = [folder]
        for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
            let path = "\(folder)/\(name)"
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            if isFolder.boolValue { folders.append(path) } else { files.append(path) }
        }
        return (files, folders)
    }
}

/// The superuser, whom permissions do not restrict.
private enum Superuser {
    #if os(Linux)
    /// The first argument of the system calls for capabilities, version 3.
    private struct Header {
        var version: UInt32 = 0x2008_0522
        var process: Int32 = 0
    }
    /// The effective, permitted, and inheritable capabilities: the first 32, then the others.
    private typealias Capabilities = (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)
    private typealias Call = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32

    /// Runs `body` with permissions applied to this thread even if its user is the superuser, where possible.
    static func withoutPrivileges(_ body: () throws -> Void) throws {
        guard geteuid() == 0, let get = call("capget"), let set = call("capset") else { return try body() }
        var header = Header()
        var before: Capabilities = (0, 0, 0, 0, 0, 0)
        guard get(&header, &before) == 0 else { return try body() }
        var restricted = before
        // CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
        restricted.0 &= ~(1 << 1 | 1 << 2)
        guard set(&header, &restricted) == 0 else { return try body() }
        defer { _ = set(&header, &before) }
        try body()
    }

    /// Returns a function of the C library that the Glibc module does not declare.
    private static func call(_ name: String) -> Call? {
        dlsym(nil, name).map { unsafeBitCast($0, to: Call.self) }
    }
    #else
    static func withoutPrivileges(_ body: () throws -> Void) throws { try body() }
    #endif
}
