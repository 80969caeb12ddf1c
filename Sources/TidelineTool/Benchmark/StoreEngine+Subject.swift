internal import TidelineBaselines
internal import TidelineBenchmark
internal import TidelineStore

extension StoreEngine {
    /// The engine's stores as the benchmark opens them.
    ///
    /// - Parameter settings: As behind a path of `--store`.
    /// - Throws: `ValidationError` for settings that the engine does not know.
    func benchmarkSubject(_ settings: [String] = []) throws -> BenchmarkSubject {
        var engine = self
        engine.settings = benchmarkSettings
        let read = try StoreSettings(settings, of: engine)
        // What is wrong with a value is said now.
        _ = try makeOpener("", read, StoreAccess())
        let isSet = settings.contains { $0.hasPrefix("durability=") }
        let normal = engine.settings.contains("durability") && !isSet ? ["durability=normal"] : []
        let version = Baselines.subject(engine: name, durability: .normal)?.engineVersion
        var store = BenchmarkStore(
            name: name, engine: name, engineVersion: version, settings: normal + settings
        ) { directory in
            try makeOpener(path(in: directory), read, StoreAccess())()
        }
        if Baselines.engines.contains(name) {
            store.compact = { try Baselines.compact(engine: name, path: path(in: $0)) }
        }
        return try store.makeSubject()
    }

    /// The settings that a store can have while it is measured: one for reading only could not even be filled.
    var benchmarkSettings: [String] { settings.filter { $0 != "read-only" } }

    /// Where the benchmark has the store within a folder of its own.
    private func path(in directory: String) -> String { usage == nil ? "" : "\(directory)/store" }
}
