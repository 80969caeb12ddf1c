extension Workload {
    /// Those of a sync client, and of its reading of JSON.
    static func syncWorkloads(_ settings: BenchmarkSettings, rows: Int) -> [Workload] { [] }
}
