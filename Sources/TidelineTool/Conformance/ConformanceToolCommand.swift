#if Tool
internal import ArgumentParser
internal import TidelineConformance
internal import TidelineServerConformance
internal import TidelineSupport

/// `tideline conformance`: runs the conformance suite on the stores of the tool, or on a server.
struct ConformanceToolCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance",
        abstract: ConformanceOptions.abstract,
        discussion: """
            \(ConformanceOptions.discussion)

            The stores and their settings: \(StoreEngine.ownStores). Stores that keep their rows have durability=full \
            unless you set it.
            \(StoreEngine.databaseHelp) The store sqlite-memory, a database of SQLite in memory, is checked if you name it.

            With --server, the checks are those of a server (SRV-101 to SRV-905), which run on a table of its own. \
            Deviations with which clients work are reported as tolerated and are no failure. If the server cannot be \
            checked, the exit status is 1, with the reason.
            """
    )

    @OptionGroup var options: ConformanceOptions
    @OptionGroup(title: "Servers") var server: ServerOptions

    func run() async throws {
        if let status = try await checkServer() {
            if status != 0 { throw ExitCode(status) }
            return
        }
        try server.confirmNoneIsSet()
        #if PostgreSQL
        defer { ScratchSchemas.removeAll() }
        #endif
        var stores = ConformanceStores(try StoreEngine.all.map { try $0.harness() }) { name, settings in
            if name == StoreHarness.sqliteInMemoryName {
                guard settings.isEmpty else { throw ValidationError("the store \(name) has no settings.") }
                return .sqliteInMemory
            }
            return try StoreEngine.named(name).harness(settings)
        }
        stores.others = [StoreHarness.sqliteInMemoryName] + StoreEngine.others.map(\.name)
        let status = try await ConformanceCommand.run(
            options, stores: stores, program: .current(Self.configuration.commandName ?? ""))
        if status != 0 { throw ExitCode(status) }
    }

    /// Runs the checks of `--server`, or lists or explains them.
    ///
    /// - Returns: The exit status, or `nil` if the command is about stores.
    private func checkServer() async throws -> Int32? {
        if let id = options.explain {
            let checks = ServerCheck.all.map(\.summary)
            guard server.server != nil || checks.contains(where: { $0.id == id.uppercased() }) else { return nil }
            return try CheckListing.explain(id, among: checks)
        }
        guard let url = server.server else { return nil }
        if options.reports.list {
            let list = try ServerConformanceSession.selected(options).map(\.summary)
            try options.reports.writeList(CheckListing.text(of: list), markdown: MarkdownCheckList().text(of: list))
            return 0
        }
        return try await ServerConformanceSession(url, options, server).run()
    }
}
#endif
