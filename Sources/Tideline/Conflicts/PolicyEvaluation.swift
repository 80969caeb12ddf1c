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
            return try merge(conflict, local, server, codec) { rules[$0] ?? others }
        case .record(let rules, let others): return try decide(conflict, by: rules, others: others, codec)
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

    /// Decides by the rules of a record. Another policy decides about a row that one side deleted, and chooses the
    /// values of the columns without a rule that both sides changed differently.
    private func decide(
        _ conflict: RowConflict, by rules: [String: MergeRule], others: ConflictPolicy, _ codec: RowCodec
    ) throws -> PolicyDecision {
        guard let local = conflict.local, let server = conflict.server else {
            return try others.decide(conflict, codec)
        }
        var decided: Decision?
        let merged = try merge(conflict, local, server, codec) { column in
            if let rule = rules[column] { return rule }
            let decision = try decided ?? others.decide(conflict, codec).decision
            decided = decision
            guard case .row(let row) = decision else { return nil }
            return MergeRule.custom(others.name) { row[column] ?? $0.server }
        }
        if case .delete? = decided { return PolicyDecision(decision: .delete, rule: merged.rule) }
        return merged
    }

    /// - Parameter findRule: Returns the rule of a column, or `nil` if the conflict must be left to the app.
    private func merge(
        _ conflict: RowConflict, _ local: Row, _ server: Row, _ codec: RowCodec,
        by findRule: (_ column: String) throws -> MergeRule?
    ) throws -> PolicyDecision {
        let base = conflict.base ?? (conflict.isInsert ? codec.completed(Row()) : Row())
        var merged = Row(id: local.id)
        var used: [String] = []
        for column in codec.appColumns {
            let (mine, theirs) = (local[column] ?? .null, server[column] ?? .null)
            if codec.isSame(local, server, in: column),
                !(counts(column) && base[column] != nil && !codec.isSame(base, server, in: column)
                    && !conflict.uncertain.contains(column))
            {
                merged[column] = theirs
            } else if let ancestor = base[column], ancestor == mine {
                merged[column] = theirs
            } else if base[column] != nil, codec.isSame(base, server, in: column) {
                merged[column] = mine
            } else {
                let rule = try findRule(column)
                let values = ColumnConflict(
                    table: conflict.table, id: conflict.id, column: column, base: base[column], local: mine,
                    server: theirs)
                used.append("\(column): \(rule?.name ?? "manual")")
                guard let value = try rule?.decide(values, isUncertain: conflict.uncertain.contains(column)) else {
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
