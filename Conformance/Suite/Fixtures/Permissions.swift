internal import Foundation

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

    /// Runs `body` while access is denied to a folder and everything below it.
    ///
    /// - Throws: What `body` throws; ``NotDecidable`` if permissions do not restrict this process.
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
