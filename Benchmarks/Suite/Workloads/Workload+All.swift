extension Workload {
    /// Every workload for a number of rows, in the order of the report: the one list there is.
    public static func all(_ settings: BenchmarkSettings, rows: Int) -> [Workload] {
        storeWorkloads(settings, rows: rows) + syncWorkloads(settings, rows: rows)
    }
}
