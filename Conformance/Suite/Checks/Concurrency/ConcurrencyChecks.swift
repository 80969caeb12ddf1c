extension Check {
    /// Threads and processes.
    static let concurrency: [Check] = concurrencyProcesses
}
