extension Check {
    /// The sync core's own tables.
    static let systemTables: [Check] = []
}
