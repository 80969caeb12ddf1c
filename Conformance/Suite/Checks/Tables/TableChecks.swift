extension Check {
    /// Definitions of tables.
    static let tables: [Check] = []
}
