extension Check {
    /// Opening, closing, files.
    static let lifecycle: [Check] = lifecycleProcesses
}
