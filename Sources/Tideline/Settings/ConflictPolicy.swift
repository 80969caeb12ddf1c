public import TidelineStore

/// A rule that resolves conflicts of a push without the app.
///
/// Set it for all tables with ``SyncOptions/conflictPolicy``, for one table with ``SyncOptions/conflictPolicies``, and
/// for a column with a ``MergeRule`` of ``merge(_:others:deletions:)``.
///
/// ```swift
/// var options = SyncOptions()
/// options.conflictPolicies["Note"] = .merge(["text": .text, "likes": .sum])
/// ```
///
/// The policy decides in the transaction that stores the conflict, with all edits that the row has by then. A row that
/// differs from the server's is sent on the version of the conflict, within the same push. If the server row has
/// changed again, the policy decides again, at most four times in a push; then the operation ends with an ordinary
/// conflict, which the next push tries again. Each decision is recorded; see ``SyncClient/decisions(table:id:)``.
public struct ConflictPolicy: Sendable {
    enum Kind: Sendable {
        case manual
        case serverWins
        case clientWins
        case lastWriterWins(column: String, deletions: DeletionRule)
        case merge(rules: [String: MergeRule], others: MergeRule, deletions: DeletionRule)
        /// The rules of a ``MergingRecord``, with the policy for what they do not decide.
        indirect case record(rules: [String: MergeRule], others: ConflictPolicy)
        case custom(name: String, body: @Sendable (RowConflict) throws -> Decision)
    }

    let kind: Kind

    /// Leaves every conflict to the app. This is the default.
    public static let manual = ConflictPolicy(kind: .manual)

    /// Takes the server row and discards the local changes, including a delete.
    public static let serverWins = ConflictPolicy(kind: .serverWins)

    /// Takes the whole local row, or the local delete, and sends it on the version of the conflict.
    ///
    /// Changes that others made to other columns of the row are overwritten, too. To keep them, use
    /// ``merge(_:others:deletions:)`` with `others: .client`.
    public static let clientWins = ConflictPolicy(kind: .clientWins)

    /// Takes the row with the greater value in a column, or the server row if the values are equal.
    ///
    /// The app writes the column with each edit. Null is less than any value. The clocks of devices differ, so that a
    /// device whose clock is ahead wins over later edits.
    /// - Parameters:
    ///   - column: An app column of type timestamp, int, double, or string.
    ///   - deletions: The rule for a row that one side deleted and the other changed, as a delete has no time.
    public static func lastWriterWins(by column: String, deletions: DeletionRule = .changeWins) -> ConflictPolicy {
        ConflictPolicy(kind: .lastWriterWins(column: column, deletions: deletions))
    }

    /// Merges the rows by column, relative to the row that both sides changed.
    ///
    /// A column that only one side changed takes the value of that side. If both sides changed it to the same value, it
    /// takes this value, unless its rule is ``MergeRule/sum``. If they changed it to different values, its rule
    /// decides. If the base row is not known, every column in which the rows differ counts as changed by both; without
    /// a base, ``MergeRule/sum`` leaves the conflict to the app. The base of two inserts of one row is a row without
    /// values.
    /// - Parameters:
    ///   - rules: The rules by column.
    ///   - others: The rule for columns that `rules` does not name: ``MergeRule/server``, ``MergeRule/client``, or a
    ///     custom rule.
    ///   - deletions: The rule for a row that one side deleted and the other changed.
    public static func merge(
        _ rules: [String: MergeRule] = [:], others: MergeRule = .server, deletions: DeletionRule = .changeWins
    ) -> ConflictPolicy {
        ConflictPolicy(kind: .merge(rules: rules, others: others, deletions: deletions))
    }

    /// Lets a closure decide.
    ///
    /// The closure runs within a write transaction of the store. It must be fast, and must not use the client or its
    /// store. If it throws, or returns a row that does not fit the table, the operation fails with
    /// ``OperationFailure/Code/policy`` and stays in the queue; the next push tries again.
    /// - Parameters:
    ///   - name: The name in errors and in the record of decisions.
    ///   - body: Returns the decision about a conflict.
    public static func custom(
        _ name: String = "custom", _ body: @escaping @Sendable (_ conflict: RowConflict) throws -> Decision
    ) -> ConflictPolicy {
        ConflictPolicy(kind: .custom(name: name, body: body))
    }

    /// The decision about a conflict.
    public enum Decision: Sendable, Hashable {
        /// The row exists with this content. Columns that the row omits keep the value of the server row, or of the
        /// local row if the server has none.
        case row(Row)
        /// The row is deleted.
        case delete
        /// The conflict is left to the app.
        case manual
    }

    /// The winner for a row that one side deleted and the other changed.
    public enum DeletionRule: Sendable, Hashable {
        /// The changed row is kept, or restored on the server.
        case changeWins
        /// The row is deleted.
        case deleteWins
    }

    /// Whether all conflicts are left to the app.
    var isManual: Bool {
        if case .manual = kind { true } else { false }
    }

    /// Returns whether equal changes of both sides to a column add up.
    func counts(_ column: String) -> Bool {
        switch kind {
        case .merge(let rules, let others, _): (rules[column] ?? others).counts
        case .record(let rules, _): rules[column]?.counts ?? false
        default: false
        }
    }

    /// The name of the policy in errors and records.
    var name: String {
        switch kind {
        case .manual: "manual"
        case .serverWins: "serverWins"
        case .clientWins: "clientWins"
        case .lastWriterWins(let column, _): "lastWriterWins(by: \(column))"
        case .merge, .record: "merge"
        case .custom(let name, _): name
        }
    }
}

/// The three sides of a conflict.
public struct RowConflict: Sendable, Hashable {
    /// The table of the row.
    public let table: String
    /// The identifier of the row.
    public let id: String
    /// The common ancestor of the two rows, or `nil` if there is none or it is not known.
    public let base: Row?
    /// The local row with all edits, or `nil` if it was deleted.
    public let local: Row?
    /// The server row, or `nil` if it was deleted.
    public let server: Row?

    /// Whether the rows have no ancestor because both sides inserted the row.
    var isInsert = false
    /// The columns that a request with an unknown outcome may have written.
    var uncertain: Set<String> = []
}

/// The two values of a column that both sides changed differently.
public struct ColumnConflict: Sendable, Hashable {
    /// The table of the row.
    public let table: String
    /// The identifier of the row.
    public let id: String
    /// The column.
    public let column: String
    /// The value of the common ancestor, or `nil` if it is not known.
    public let base: Value?
    /// The local value.
    public let local: Value
    /// The server's value.
    public let server: Value
}

/// The failure of a policy, such as an error of its closure.
struct PolicyError: Error {
    var message: String
    var column: String?
    var cause: (any Error)?
}
