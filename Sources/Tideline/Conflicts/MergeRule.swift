public import TidelineStore

/// The rule of a ``ConflictPolicy/merge(_:others:deletions:)`` for a column that both sides changed differently, or, with
/// ``sum``, alike.
///
/// In all rules but ``server``, ``client``, and custom rules, null gives way to a value.
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
    /// Equal differences are added as well: if both sides change 10 to 11, the result is 12. A null base counts as zero. A
    /// result beyond the range of the type becomes the least or greatest value of the type.
    ///
    /// If the base is not known, or an earlier request with an unknown outcome may have written the column, adding could
    /// count a change twice. Then equal values are taken as one change, and different values are left to the app. Two
    /// inserts of a row with equal values in all columns count as one.
    public static let sum = MergeRule(kind: .sum)
    /// Keeps the elements that either side added to a JSON array and removes those that either side removed, for columns of
    /// type json. Each element occurs once; those of the server come first.
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

    /// Returns the merged value, or `nil` if the conflict must be left to the app.
    ///
    /// - Parameter isUncertain: Whether an earlier request with an unknown outcome may have written the column.
    func merge(_ conflict: ColumnConflict, isUncertain: Bool = false) throws -> Value? {
        let (local, server) = (conflict.local, conflict.server)
        switch kind {
        case .server: return server
        case .client: return local
        case .custom(_, let body): return try body(conflict)
        case .greatest, .least, .sum, .text:
            // JSON arrays differ: a null array is an empty one.
            if local.isNull { return server }
            if server.isNull { return local }
        case .union: break
        }
        switch kind {
        case .greatest: return local.isLess(than: server) ? server : local
        case .least: return server.isLess(than: local) ? server : local
        case .sum:
            guard let base = conflict.base, !isUncertain else { return nil }
            return try sum(base, local, server)
        case .text:
            guard case .string(let local) = local, case .string(let server) = server else { throw misfit(conflict) }
            return .string(TextMerge.merge(base: conflict.base?.string ?? "", local: local, server: server))
        default:
            guard
                let merged = JSONUnion.merge(
                    base: conflict.base ?? .null, local: local, server: server)
            else { throw misfit(conflict) }
            return merged
        }
    }

    private func misfit(_ conflict: ColumnConflict) -> PolicyError {
        PolicyError(
            message: "the rule \(name) cannot merge \(conflict.local) and \(conflict.server)", column: conflict.column)
    }

    private func sum(_ base: Value, _ local: Value, _ server: Value) throws -> Value {
        switch (base, local, server) {
        case (.null, .int, _): return try sum(.int(0), local, server)
        case (.null, .double, _): return try sum(.double(0), local, server)
        case (.int(let base), .int(let local), .int(let server)):
            // The sum of three 64-bit integers fits 128 bits.
            return .int(Int64(clamping: Int128(local) + Int128(server) - Int128(base)))
        case (.double(let base), .double(let local), .double(let server)):
            // Halves cannot overflow.
            let half = local / 2 - base / 2 + server / 2
            let sum = local - base + server
            if sum.isFinite { return .double(sum) }
            guard half.isFinite, abs(half) <= .greatestFiniteMagnitude / 2 else {
                return .double(half < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude)
            }
            return .double(half * 2)
        default:
            throw PolicyError(message: "the rule sum cannot add \(base), \(local), and \(server)")
        }
    }
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
