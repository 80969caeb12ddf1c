#if Serve
internal import ArgumentParser
internal import TidelineStore
internal import TidelineSupport

/// `tideline restore`: creates a server's store from a backup.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Create a server's store from a backup.",
        discussion: """
            Creates a new store, of any engine, from a file of "tideline backup", and verifies it. A file or folder that \
            exists is not changed; a PostgreSQL schema must have no rows. The store appears under its name only when it is \
            complete.

            Clients may have pulled changes that were made after the backup and are lost. Therefore each row gets a new \
            updatedAt, later than any before, so that clients pull all rows once more and then have the restored \
            content. Versions stay the same, so pending changes to rows that did not change after the backup are \
            accepted, and others become conflicts. Rows that were inserted after the backup remain on the clients that \
            pulled them, until these purge the table; a change to such a row becomes a conflict. Set the machine's clock \
            before you restore.

            If no client has synced since the backup, for example when you move a stopped server's tables to another \
            engine, add --keep-timestamps.

            If the command is killed, a file or folder PATH.incomplete-… may remain; remove it.
            """
    )

    @Option(help: StoreLocation.help(default: ServeCommand.defaultStore), transform: StoreLocation.init(parsing:))
    var store: StoreLocation?

    @Flag(help: "Keep updatedAt of all rows. Use it only if no client has synced since the backup.")
    var keepTimestamps = false

    @Argument(help: "The file of the backup.")
    var file: String

    func run() async throws {
        let location = try store ?? StoreLocation(parsing: ServeCommand.defaultStore)
        guard location.keepsRows else { throw ValidationError("\(location.text) does not keep the restored rows.") }
        let copy = try StoreRestoration(keepsTimestamps: keepTimestamps).run(from: file, to: location)
        StandardOutput.line(
            "restored \(counted(copy.rowCount, "row")) in \(counted(copy.tableCount, "table")) to \(location.text)")
        guard !keepTimestamps else { return }
        StandardOutput.line("each row has a new updatedAt, so that clients pull all rows once more")
    }
}
#endif
