extension Check {
    /// Two processes that work at the same time.
    static let concurrencyProcesses: [Check] = concurrencyProcessWriters + concurrencyProcessReaders
}
