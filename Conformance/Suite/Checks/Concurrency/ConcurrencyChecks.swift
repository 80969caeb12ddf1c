extension Check {
    /// Threads and processes.
    static let concurrency: [Check] =
        concurrencyReaders + concurrencyWriters + concurrencyWaiting + concurrencyDefinitions + concurrencyProcesses
}
