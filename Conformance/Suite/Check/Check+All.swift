extension Check {
    /// All checks, in the order in which they run and are reported. The list of a group is in the group's folder, in
    /// the file that is named after the group.
    public static let all: [Check] = [
        syncCore, lifecycle, tables, upsert, lookup, filters, order, values, systemTables, transactions, concurrency,
        durability, scale, model, observation, engine, long,
    ].flatMap { $0 }

    /// Returns the check with the given identifier, in either case, or `nil` if there is none.
    public static func named(_ id: String) -> Check? { byID[id.uppercased()] }

    private static let byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
}
