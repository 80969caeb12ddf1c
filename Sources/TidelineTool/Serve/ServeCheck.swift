#if Serve
internal import Foundation
internal import TidelineServer
internal import TidelineStore

/// `tideline serve --check`: examines everything that a server needs to start, and changes nothing.
struct ServeCheck {
    var location: StoreLocation
    var options: TableServiceOptions
    var server: TableServer

    /// Prints what the server would do.
    /// - Throws: The error with which the server would not start.
    func run() async throws {
        let (changes, isMissing) = try await changes()
        if !location.keepsRows {
            StandardOutput.line("store: \(location.text), which discards its rows when the server ends")
        } else if isMissing {
            StandardOutput.line("store: \(location.text) does not exist and would be created")
        } else {
            StandardOutput.line("store: \(location.text) exists")
        }
        for change in changes { StandardOutput.line("change: \(change)") }
        if changes.isEmpty { StandardOutput.line("no table would change") }
        do {
            _ = try server.bind()
            StandardOutput.line("address: \(server.host) port \(server.port) is free")
        } catch let error as ToolError {
            // It may be the running server whose next start is checked.
            StandardOutput.line("warning: \(error.message)")
        }
        StandardOutput.line("nothing was changed; the server can start")
    }

    /// Returns the changes to the store, and whether it does not exist.
    private func changes() async throws -> (changes: [String], isMissing: Bool) {
        guard location.keepsRows else { return (try ServedSchemas.changes(by: options), false) }
        if location.isReadOnly {
            // The start itself changes nothing.
            try await withStore(location) { try start(over: $0) }
            return ([], false)
        }
        if location.isMissingFile {
            try requireFolder()
            return (try ServedSchemas.changes(by: options), true)
        }
        guard location.destroy == nil || access(location.path, W_OK) == 0 else {
            throw ToolError("there is no permission to write to \(location.path)")
        }
        do {
            let store = try location.open(isReadOnly: true)
            defer { try? store.close() }
            let tables = try store.tables()
            try BackupFile.requireNoBackup(tables)
            let changes = try ServedSchemas.changes(by: options, over: tables) { try store.hasRows(in: $0) }
            return (changes, false)
        } catch let error as StoreError where location.isMissing(after: error) {
            return (try ServedSchemas.changes(by: options), true)
        }
    }

    private func start(over store: some LocalStore) throws { _ = try TableService(store: store, options: options) }

    private func requireFolder() throws {
        let folder = NewPath.folder(of: location.path)
        guard NewPath.isFolder(folder) else { throw ToolError("there is no folder \(folder) for the store") }
        guard access(folder, W_OK) == 0 else { throw ToolError("there is no permission to create files in \(folder)") }
    }
}
#endif
