#if Benchmark
    internal import TidelineBaselines
    internal import TidelineBenchmark
    internal import TidelineStore

    extension StoreEngine {
        /// Returns a subject that opens the engine's stores for the benchmark.
        ///
        /// - Parameter settings: The settings, as after the path in `--store`.
        /// - Throws: `ValidationError` if the engine does not have one of the settings.
        func benchmarkSubject(_ settings: [String] = []) throws -> BenchmarkSubject {
            var engine = self
            engine.settings = benchmarkSettings
            let read = try StoreSettings(settings, of: engine)
            // Report an invalid value now instead of during the run.
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

        /// The settings that a store can have in a benchmark. A read-only store is excluded, because it cannot be filled.
        var benchmarkSettings: [String] { settings.filter { $0 != "read-only" } }

        /// Returns the path of the store within the folder that the benchmark provides.
        private func path(in directory: String) -> String { usage == nil ? "" : "\(directory)/store" }
    }
#endif
