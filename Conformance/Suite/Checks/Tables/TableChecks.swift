extension Check {
    /// Table definitions and their evolution.
    static let tables: [Check] =
        tableDefinitions + undefinedTables + tableNames + tableRefusals + tableColumns + droppedColumns + tableIndexes
        + tableTransitions + randomEvolutions + tableFixtures + tableIndexAmounts
}
