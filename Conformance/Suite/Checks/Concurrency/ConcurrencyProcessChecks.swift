extension Check {
    /// Two processes at work.
    static let concurrencyProcesses: [Check] = concurrencyProcessWriters + concurrencyProcessReaders
}
