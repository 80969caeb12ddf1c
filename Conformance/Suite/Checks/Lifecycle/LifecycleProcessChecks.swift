extension Check {
    /// A second process on the same files.
    static let lifecycleProcesses: [Check] = lifecycleLocks + lifecycleSharing
}
