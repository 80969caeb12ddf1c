internal import TidelineStore

/// The decision of a policy about one conflict, with the rule that led to it.
struct PolicyDecision: Sendable {
    var decision: ConflictPolicy.Decision
    /// The policy and the rules that decided, such as `merge (rank: sum)`.
    var rule: String
}

extension ConflictPolicy {
    /// Decides a conflict.
    ///
    /// - Throws: ``PolicyError``, or the error of a closure.
    func decide(_ conflict: RowConflict, _ codec: RowCodec) throws -> PolicyDecision {
        switch kind {
        case .manual: return PolicyDecision(decision: .manual, rule: name)
        case .serverWins: return PolicyDecision(decision: conflict.server.map { .row($0) } ?? .delete, rule: name)
        case .clientWins: return PolicyDecision(decision: conflict.local.map { .row($0) } ?? .delete, rule: name)
        case .lastWriterWins(let column, let deletions):
            guard let local = conflict.local, let server = conflict.server else {
                return decide(conflict, by: deletions)
            }
            guard codec.schema.column(column) != nil else {
                throw PolicyError(message: "the table has no column \(column.debugDescription)", column: column)
            }
            let isNewer = (server[column] ?? .null).isLess(than: local[column] ?? .null)
            return PolicyDecision(decision: .row(isNewer ? local : server), rule: name)
        case .merge(let rules, let others, let deletions):
            guard let local = conflict.local, let server = conflict.server else {
                return decide(conflict, by: deletions)
            }
            return try merge(conflict, local, server, rules: rules, others: others, codec)
        case .custom(_, let body): return PolicyDecision(decision: try body(conflict), rule: name)
        }
    }

    private func decide(_ conflict: RowConflict, by deletions: DeletionRule) -> PolicyDecision {
        switch deletions {
        case .changeWins:
            let row = conflict.local ?? conflict.server
            return PolicyDecision(decision: row.map { .row($0) } ?? .delete, rule: "\(name) (deletion: change wins)")
        case .deleteWins: return PolicyDecision(decision: .delete, rule: "\(name) (deletion: delete wins)")
        }
    }

    private func merge(
        _ conflict: RowConflict, _ local: Row, _ server: Row, rules: [String: MergeRule], others: MergeRule,
        _ codec: RowCodec
    ) throws -> PolicyDecision {
        let base = conflict.base ?? (conflict.isInsert ? codec.completed(Row()) : Row())
        var merged = Row(id: local.id)
        var used: [String] = []
        for column in codec.appColumns {
            let (mine, theirs) = (local[column] ?? .null, server[column] ?? .null)
            if codec.isSame(local, server, in: column) {
                merged[column] = theirs
            } else if let ancestor = base[column], ancestor == mine {
                merged[column] = theirs
            } else if base[column] != nil, codec.isSame(base, server, in: column) {
                merged[column] = mine
            } else {
                let rule = rules[column] ?? others
                let values = ColumnConflict(
                    table: conflict.table, id: conflict.id, column: column, base: base[column], local: mine,
                    server: theirs)
                used.append("\(column): \(rule.name)")
                guard let value = try rule.decide(values, isUncertain: conflict.uncertain.contains(column)) else {
                    return PolicyDecision(decision: .manual, rule: "\(name) (\(used.joined(separator: ", ")))")
                }
                merged[column] = value
            }
        }
        let rule = used.isEmpty ? name : "\(name) (\(used.joined(separator: ", ")))"
        return PolicyDecision(decision: .row(merged), rule: rule)
    }
}

extension MergeRule {
    /// Returns the merged value. Errors name the column and the rule.
    fileprivate func decide(_ conflict: ColumnConflict, isUncertain: Bool) throws -> Value? {
        do {
            return try merge(conflict, isUncertain: isUncertain)
        } catch var error as PolicyError {
            error.column = conflict.column
            throw error
        } catch {
            throw PolicyError(message: "the rule \(name) failed: \(error)", column: conflict.column, cause: error)
        }
    }
}

// MARK: Validation

extension SyncOptions {
    /// The policy for the conflicts of a table.
    func policy(for table: String) -> ConflictPolicy {
        conflictPolicies.first { $0.key.isSameBytes(as: table) }?.value ?? conflictPolicy
    }

    /// Whether any conflict is not left to the app.
    package var usesPolicies: Bool { !conflictPolicy.isManual || !conflictPolicies.isEmpty }

    /// Throws if the options cannot be used.
    func validate() throws {
        guard maximumDecisions >= 1 else {
            throw SyncError(
                .invalidArgument,
                "maximumDecisions is \(maximumDecisions); use at least 1, as each decision is recorded")
        }
    }

    /// Throws if a policy names a column that a table lacks, or a rule that does not fit its column.
    func checkPolicies(of tables: [TableSchema]) throws {
        for table in tables {
            let isOwn = conflictPolicies.contains { $0.key.isSameBytes(as: table.name) }
            try policy(for: table.name).check(table, namesColumnsOfOthers: !isOwn)
        }
    }

    /// Throws if a policy names a table or column that no table defines.
    ///
    /// - Parameter tables: All tables of the store.
    func checkAllPolicies(of tables: [TableSchema]) throws {
        for name in conflictPolicies.keys.sorted() where !tables.contains(where: { $0.name.isSameBytes(as: name) }) {
            let hint = closestName(to: name, among: tables.map(\.name)).map { "; did you mean \($0.debugDescription)?" }
            throw SyncError(
                .invalidArgument,
                "conflictPolicies names the table \(name.debugDescription), which is not defined" + (hint ?? ""),
                table: name)
        }
        try checkPolicies(of: tables)
        guard case .merge(let rules, _, _) = conflictPolicy.kind else { return }
        let columns = Set(tables.flatMap { $0.columns.map(\.name) })
        for column in rules.keys.sorted() where !columns.contains(column) {
            throw SyncError(
                .invalidArgument,
                "conflictPolicy has a rule for the column \(column.debugDescription), which no table defines",
                column: column)
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
        case .merge(let rules, let others, _):
            for (column, rule) in rules.sorted(by: { $0.key < $1.key }) {
                if namesColumnsOfOthers, !schema.columns.contains(where: { $0.name.isSameBytes(as: column) }) {
                    continue
                }
                let type = try type(of: column, in: schema)
                guard rule.fits(type) else {
                    throw refuse(rule.misuse(column, type), column, in: schema)
                }
            }
            for column in schema.columns where rules[column.name] == nil && !others.fits(column.type) {
                throw refuse(others.misuse(column.name, column.type), column.name, in: schema)
            }
        }
    }

    private func type(of column: String, in schema: TableSchema) throws -> ColumnType {
        guard let found = schema.columns.first(where: { $0.name.isSameBytes(as: column) }) else {
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
    fileprivate func misuse(_ column: String, _ type: ColumnType) -> String {
        "has the rule \(name) for \(column.debugDescription), a column of type \(type.rawValue), which it cannot merge"
    }
}
