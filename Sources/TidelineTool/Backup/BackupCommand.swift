#if Serve
internal import ArgumentParser
internal import TidelineStore
internal import TidelineSupport

/// `tideline backup`: copies a server's store to a file while the server runs.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Back up a server's store to a file, also while the server runs.",
        discussion: """
            The backup is the state of all tables at one moment, with versions, timestamps, tombstones, and definitions, \
            in one file. It is verified after it is written, appears under its name only when it is complete, and never \
            replaces an existing file. "tideline restore" creates a store of any engine from it.

            Stores of SQLite, LMDB, and PostgreSQL can be backed up while servers write to them. A LevelDB store can be \
            open in only one process: stop the server first.

            If the command is killed, a file FILE.incomplete-… may remain; remove it.
            """
    )

    @Option(help: StoreLocation.help(default: ServeCommand.defaultStore), transform: StoreLocation.init(parsing:))
    var store: StoreLocation?

    @Argument(help: "The file to create.")
    var file: String

    func run() async throws {
        let location = try store ?? StoreLocation(parsing: ServeCommand.defaultStore)
        guard location.keepsRows else {
            throw ValidationError("\(location.text) keeps no rows that could be backed up.")
        }
        try NewPath.requireFree(file)
        do {
            let copy = try await withStore(location, isReadOnly: true) { try BackupFile.write($0, to: file) }
            StandardOutput.line(
                "backed up \(counted(copy.rowCount, "row")) in \(counted(copy.tableCount, "table")) to \(file)")
        } catch let error as StoreError where error.code == .locked {
            throw ToolError("\(error.description); stop the server during the backup")
        } catch let error as StoreError where location.isMissing(after: error) {
            throw ToolError("there is no store \(location.text); name the server's store with --store")
        }
    }
}
#endif
