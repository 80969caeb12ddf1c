internal import TidelineStore

extension Check {
    /// The sync core's own tables.
    static let systemTables: [Check] = systemDefinitions + systemRows
}
