internal import TidelineStore

/// The conflict policies of a client: those of its options, and those of its records.
struct ConflictPolicies: Sendable {
    /// The policy for tables without one of their own.
    private let general: ConflictPolicy
    /// The policies of the options by table.
    private let options: [String: ConflictPolicy]
    /// The policies of tables whose records have rules.
    private var records: [String: ConflictPolicy] = [:]

    init(_ options: SyncOptions) {
        general = options.conflictPolicy
        self.options = options.conflictPolicies
    }

    /// Whether any conflict is not left to the app.
    var areUsed: Bool { !general.isManual || !options.isEmpty || !records.isEmpty }

    /// Returns the policy for the conflicts of a table.
    func policy(for table: String) -> ConflictPolicy { own(table) ?? general }

    private func own(_ table: String) -> ConflictPolicy? {
        records[table] ?? options[table]
    }

    /// Sets the rules of a record. Those of a policy for its table take precedence over them, and they take precedence
    /// over the policy for all tables.
    mutating func add(_ rules: [String: MergeRule], for schema: TableSchema) {
        let policy = options[schema.name]
        switch (policy ?? general).kind {
        case .merge(let given, let others, let deletions):
            var merged = rules
            for (column, rule) in given where policy != nil || rules[column] == nil && schema.column(column) != nil {
                merged[column] = rule
            }
            records[schema.name] = .merge(merged, others: others, deletions: deletions)
        default:
            records[schema.name] = policy ?? ConflictPolicy(kind: .record(rules: rules, others: general))
        }
    }

    // MARK: Validation

    /// Throws if a policy names a column that a table lacks, or a rule that does not fit its column.
    func check(_ tables: [TableSchema]) throws {
        for table in tables {
            let own = own(table.name)
            try (own ?? general).check(table, namesColumnsOfOthers: own == nil)
        }
    }

    /// Throws if a policy names a table or column that no table defines.
    ///
    /// - Parameter tables: All tables of the store.
    func checkAll(_ tables: [TableSchema]) throws {
        for name in options.keys.sorted() where !tables.contains(where: { $0.name == name }) {
            let hint = closestName(to: name, among: tables.map(\.name)).map { "; did you mean \($0.debugDescription)?" }
            throw SyncError(
                .invalidArgument,
                "conflictPolicies names the table \(name.debugDescription), which is not defined" + (hint ?? ""),
                table: name)
        }
        try check(tables)
        guard case .merge(let rules, _, _) = general.kind else { return }
        let columns = Set(tables.flatMap { $0.columns.map(\.name) })
        for column in rules.keys.sorted() where !columns.contains(column) {
            throw SyncError(
                .invalidArgument,
                "conflictPolicy has a rule for the column \(column.debugDescription), which no table defines",
                column: column)
        }
    }
}

extension SyncOptions {
    /// Whether any conflict is not left to the app.
    package var usesPolicies: Bool { ConflictPolicies(self).areUsed }

    /// Throws if the options cannot be used.
    func validate() throws {
        guard maximumDecisions >= 1 else {
            throw SyncError(
                .invalidArgument,
                "maximumDecisions is \(maximumDecisions); use at least 1, as each decision is recorded")
        }
    }
}

extension ConflictPolicy {
    /// - Parameter namesColumnsOfOthers: Whether the policy also applies to other tables, which may have other columns.
    fileprivate func check(_ schema: TableSchema, namesColumnsOfOthers: Bool) throws {
        switch kind {
        case .manual, .serverWins, .clientWins, .custom: return
        case .lastWriterWins(let column, _):
            let type = try type(of: column, in: schema)
            guard [.timestamp, .int, .double, .string].contains(type) else {
                throw refuse(
                    "compares \(column.debugDescription), a column of type \(type.rawValue); use a timestamp, int, double, "
                        + "or string", column, in: schema)
            }
        case .record(let rules, let others):
            try check(rules, of: schema, namesColumnsOfOthers: namesColumnsOfOthers)
            guard schema.columns.contains(where: { rules[$0.name] == nil }) else { return }
            try others.check(schema, namesColumnsOfOthers: true)
        case .merge(let rules, let others, _):
            try check(rules, of: schema, namesColumnsOfOthers: namesColumnsOfOthers)
            for column in schema.columns where rules[column.name] == nil && !others.fits(column.type) {
                throw refuse(others.usageError(column.name, column.type), column.name, in: schema)
            }
        }
    }

    private func check(
        _ rules: [String: MergeRule], of schema: TableSchema, namesColumnsOfOthers: Bool
    ) throws {
        for (column, rule) in rules.sorted(by: { $0.key < $1.key }) {
            if namesColumnsOfOthers, !schema.columns.contains(where: { $0.name == column }) {
                continue
            }
            let type = try type(of: column, in: schema)
            guard rule.fits(type) else {
                throw refuse(rule.usageError(column, type), column, in: schema)
            }
        }
    }

    private func type(of column: String, in schema: TableSchema) throws -> ColumnType {
        guard let found = schema.columns.first(where: { $0.name == column }) else {
            let reason = schema.column(column) == nil ? "does not define" : "receives from the server only"
            throw refuse(
                "names the column \(column.debugDescription), which the table \(reason)\(schema.suggestion(for: column))",
                column, in: schema)
        }
        return found.type
    }

    private func refuse(_ reason: String, _ column: String, in schema: TableSchema) -> SyncError {
        SyncError(
            .invalidArgument, "the conflict policy \(name) of the table \(schema.name.debugDescription) \(reason)",
            table: schema.name, column: column)
    }
}

extension MergeRule {
    fileprivate func usageError(_ column: String, _ type: ColumnType) -> String {
        "has the rule \(name) for \(column.debugDescription), a column of type \(type.rawValue), which it cannot merge"
    }
}
