#if Benchmark
internal import ArgumentParser
internal import TidelineBaselines
internal import TidelineBenchmark
internal import TidelineStore

/// `tideline bench`: runs the benchmark on the stores of the tool, and on the engines alone for comparison.
struct BenchToolCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: BenchOptions.abstract,
        discussion: """
            \(BenchOptions.discussion)

            The stores and their settings: \(StoreEngine.ownStores). Stores that keep their rows have durability=normal \
            unless you set it.
            \(StoreEngine.databaseHelp)
            """
    )

    @OptionGroup var options: BenchOptions

    func run() async throws {
        #if PostgreSQL
        defer { ScratchSchemas.removeAll() }
        #endif
        var stores = BenchStores(
            names: StoreEngine.all.map(\.name),
            settings: { name in (try? StoreEngine.named(name).ownSettings) ?? [] },
            baseline: { Baselines.subject(engine: $0, durability: $1) },
            others: JSONSubjects.all + [Baselines.json],
            configuring: { try StoreEngine.named($0).benchmarkSubject($1) })
        stores.moreNames = StoreEngine.others.map(\.name)
        let status = try await BenchCommand.run(options, stores: stores)
        if status != 0 { throw ExitCode(status) }
    }
}

extension StoreEngine {
    /// Returns a subject that opens the engine's stores for the benchmark.
    ///
    /// - Parameter settings: The settings, as after the path in `--store`.
    /// - Throws: `ValidationError` if the engine does not have one of the settings.
    func benchmarkSubject(_ settings: [String] = []) throws -> BenchmarkSubject {
        let isSet = settings.contains { $0.hasPrefix("durability=") }
        let normal = self.settings.contains("durability") && !isSet ? ["durability=normal"] : []
        let read = try checkedSettings(normal + settings)
        let version = Baselines.subject(engine: name, durability: .normal)?.engineVersion
        var store = BenchmarkStore(
            name: name, engine: name, engineVersion: version, settings: normal + settings
        ) { directory in
            try open(in: directory, read)
        }
        if Baselines.engines.contains(name) {
            store.compact = { try Baselines.compact(engine: name, path: place(in: $0, read).path) }
        }
        return try store.makeSubject()
    }
}
#endif
