extension Workload {
    /// Those that any database does.
    static func storeWorkloads(_ settings: BenchmarkSettings, rows: Int) -> [Workload] {
        StoreWorkloads(settings, rows: rows).all
    }
}
