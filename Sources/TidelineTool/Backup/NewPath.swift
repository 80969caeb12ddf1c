#if Serve
internal import Foundation
internal import TidelineStore

/// Files and folders that appear under their name when they are complete, and never replace existing ones.
enum NewPath {
    /// Checks that nothing exists at a path and that its folder does.
    ///
    /// SQLite would apply a log that a removed database has left beside the path to the new one.
    ///
    /// - Throws: ``ToolError``.
    static func requireFree(_ path: String) throws {
        guard !path.isEmpty else { throw ToolError("the path is empty; specify the path of a new file") }
        var status = stat()
        guard lstat(path, &status) != 0 else {
            throw ToolError("\(path) exists; nothing is overwritten, so choose another path or remove it")
        }
        for log in ["\(path)-wal", "\(path)-journal"] where lstat(log, &status) == 0 {
            throw ToolError("\(log) exists, the log of a database that is gone; choose another path or remove it")
        }
        let folder = folder(of: path)
        guard isFolder(folder) else { throw ToolError("there is no folder \(folder)") }
    }

    /// Calls `body` with a temporary path in the same folder, syncs the files there to the disk, and moves them to
    /// `path`.
    ///
    /// - Parameter remove: Removes the incomplete files after an error.
    /// - Throws: The error of `body`, which names `path` in place of the temporary one; ``ToolError`` if something
    ///   exists at the path, the files cannot be synced, or incomplete files remain.
    static func create<T>(_ path: String, remove: (String) throws -> Void, _ body: (String) throws -> T) throws -> T {
        try requireFree(path)
        let unfinished = "\(path).incomplete-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        do {
            let result = try body(unfinished)
            try requireNoLog(unfinished)
            try sync(unfinished)
            try move(unfinished, to: path)
            try syncEntry(folder(of: path))
            return result
        } catch {
            // The first error is the relevant one.
            guard (try? remove(unfinished)) != nil else {
                throw ToolError("\(error); \(unfinished) could not be removed, so remove it")
            }
            throw naming(path, insteadOf: unfinished, error)
        }
    }

    private static func naming(_ path: String, insteadOf other: String, _ error: any Error) -> any Error {
        func renamed(_ text: String) -> String { text.replacingOccurrences(of: other, with: path) }
        if let error = error as? ToolError { return ToolError(renamed(error.message)) }
        guard var named = error as? StoreError else { return error }
        named.message = renamed(named.message)
        named.path = named.path.map(renamed)
        return named
    }

    /// Checks that a database that was closed is complete without its log. SQLite keeps the log, and reports no error,
    /// if the pages in it do not fit on the disk once more.
    private static func requireNoLog(_ path: String) throws {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)-wal")
        guard attributes?[.size] as? Int ?? 0 == 0 else {
            throw ToolError("the end of \(path) could not be written; the disk may be full")
        }
    }

    /// Returns the folder that contains a file or folder, or will contain it.
    static func folder(of path: String) -> String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Syncs a file, or a folder and the files in it.
    private static func sync(_ path: String) throws {
        if isFolder(path) {
            for name in try FileManager.default.contentsOfDirectory(atPath: path) { try sync("\(path)/\(name)") }
        }
        try syncEntry(path)
    }

    private static func syncEntry(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("cannot sync \(path) to the disk") }
    }

    /// Moves a file or folder to a path where nothing exists.
    private static func move(_ path: String, to target: String) throws {
        try requireFree(target)
        // A hard link fails if the target exists; renaming would replace it.
        if link(path, target) == 0 {
            unlink(path)
            return
        }
        guard errno != EEXIST else { throw ToolError("\(target) exists; another program has just created it") }
        // Folders, and file systems without hard links.
        guard rename(path, target) == 0 else { throw failure("cannot create \(target)") }
    }

    private static func failure(_ message: String) -> ToolError {
        ToolError("\(message): \(String(cString: strerror(errno)))")
    }
}
#endif
