public import TidelineStore

/// The rule of a ``ConflictPolicy/merge(_:others:deletions:)`` for a column that both sides changed differently, or,
/// with ``sum``, alike.
///
/// In ``greatest``, ``least``, ``sum``, and ``text``, null gives way to a value. In ``union``, it is an empty array.
public struct MergeRule: Sendable {
    enum Kind: Sendable {
        case server, client, greatest, least, sum, union, text
        case custom(name: String, body: @Sendable (ColumnConflict) throws -> Value)
    }

    let kind: Kind

    /// Takes the server's value.
    public static let server = MergeRule(kind: .server)
    /// Takes the local value.
    public static let client = MergeRule(kind: .client)
    /// Takes the greater value, for columns of type int, double, timestamp, string, or bool. Strings compare by their
    /// bytes; `true` is greater than `false`.
    public static let greatest = MergeRule(kind: .greatest)
    /// Takes the lesser value, for the same types as ``greatest``.
    public static let least = MergeRule(kind: .least)
    /// Adds the differences of both sides to the value of the base row, for columns of type int or double. Use it for
    /// counters.
    ///
    /// Equal differences are added as well: if both sides change 10 to 11, the result is 12. A null base counts as
    /// zero. A result beyond the range of the type becomes the least or greatest value of the type.
    ///
    /// If the base is not known, or an earlier request with an unknown outcome may have written the column, adding
    /// could count a change twice. Then equal values are taken as one change, and different values are left to the app.
    /// Two inserts of a row with equal values in all columns count as one.
    public static let sum = MergeRule(kind: .sum)
    /// Keeps the elements that either side added to a JSON array and removes those that either side removed, for
    /// columns of type json. Each element occurs once; those of the server come first. If a value is not an array, such
    /// as that of a dictionary or a struct, the conflict is left to the app.
    public static let union = MergeRule(kind: .union)
    /// Merges texts by line, and lines that both sides changed by word, for columns of type string. Of words that both
    /// sides changed, the server's come first, followed by the local ones.
    public static let text = MergeRule(kind: .text)

    /// Lets a closure decide.
    ///
    /// The closure runs within a write transaction of the store. It must be fast, and must not use the client or its
    /// store. If it throws, or returns a value that does not fit the column, the operation fails with
    /// ``OperationFailure/Code/policy`` and stays in the queue.
    /// - Parameters:
    ///   - name: The name in errors and in the record of decisions.
    ///   - body: Returns the merged value.
    public static func custom(
        _ name: String = "custom", _ body: @escaping @Sendable (_ conflict: ColumnConflict) throws -> Value
    ) -> MergeRule {
        MergeRule(kind: .custom(name: name, body: body))
    }

    var name: String {
        switch kind {
        case .server: "server"
        case .client: "client"
        case .greatest: "greatest"
        case .least: "least"
        case .sum: "sum"
        case .union: "union"
        case .text: "text"
        case .custom(let name, _): name
        }
    }

    /// Whether equal changes of both sides add up.
    var counts: Bool {
        if case .sum = kind { true } else { false }
    }

    /// Returns whether the rule can merge values of a type.
    func fits(_ type: ColumnType) -> Bool {
        switch kind {
        case .server, .client, .custom: true
        case .greatest, .least: [.int, .double, .timestamp, .string, .bool].contains(type)
        case .sum: type == .int || type == .double
        case .union: type == .json
        case .text: type == .string
        }
    }
}

/// A record whose type has rules for conflicts; see ``SyncClient/define(_:)-(any_TableRecord.Type...)``.
///
/// ```swift
/// extension TodoItem: MergingRecord {
///     static let mergeRules: [String: MergeRule] = ["priority": .greatest]
/// }
/// ```
///
/// Conflicts of the table are merged by column (``ConflictPolicy/merge(_:others:deletions:)``) with these rules. A
/// policy for the table in ``SyncOptions/conflictPolicies`` takes precedence; if it is a merge, the rules apply to the
/// columns that it does not name. ``SyncOptions/conflictPolicy`` applies to what has no rule: it decides about a row
/// that one side deleted, and if both sides changed columns without a rule differently, these columns take the values
/// of the row that it chooses. ``ConflictPolicy/manual`` leaves such a conflict to the app.
public protocol MergingRecord: TableRecord {
    /// The rules by the names of columns.
    static var mergeRules: [String: MergeRule] { get }
}

extension Value {
    /// Returns whether a value is less than another one of the same type. Null and NaN are less than all others.
    func isLess(than other: Value) -> Bool {
        switch (self, other) {
        case (.bool(let a), .bool(let b)): !a && b
        case (.int(let a), .int(let b)): a < b
        case (.double(let a), .double(let b)): a < b || a.isNaN && !b.isNaN
        case (.timestamp(let a), .timestamp(let b)): a < b
        case (.string(let a), .string(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
        default: isNull && !other.isNull
        }
    }
}
