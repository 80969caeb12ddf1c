internal import TidelineStore

/// Compiles the conditions that SQL expresses with exactly the meaning that ``Evaluator`` defines.
///
/// A compiled condition may be null where the evaluator's is false, which allows plain operators that can use indexes.
/// `NOT` is pushed down to the leaves and written as `IS NOT TRUE`. Values become parameters, never text.
///
/// The predicate must have passed the evaluator's validation.
struct PredicateCompiler {
    let table: StoredTable
    private(set) var parameters = Parameters()

    init(_ table: StoredTable) { self.table = table }

    /// The limits of a predicate that is compiled: PostgreSQL's parser needs stack space for each level, and a
    /// statement has at most 65,535 parameters.
    private static let maximumDepth = 100
    private static let maximumNodes = 20_000

    /// Compiles as many terms of a conjunction as possible.
    ///
    /// - Returns: The SQL of a condition that every matching row fulfills, or `nil` if there is none, and the terms
    ///   that are left to be evaluated.
    mutating func compile(_ predicate: RowPredicate) -> (sql: String?, rest: [RowPredicate]) {
        guard Self.isSmall(predicate) else { return (nil, [predicate]) }
        var conditions: [String] = []
        var rest: [RowPredicate] = []
        var pending = [predicate]
        while let term = pending.popLast() {
            if case .and(let terms) = term {
                pending += terms.reversed()
                continue
            }
            let known = parameters.count
            if let condition = condition(term, negated: false) {
                conditions.append(condition)
            } else {
                parameters.truncate(to: known)
                rest.append(term)
            }
        }
        return (conditions.isEmpty ? nil : conditions.joined(separator: " AND "), rest)
    }

    private static func isSmall(_ predicate: RowPredicate) -> Bool {
        predicate.nodes.enumerated().allSatisfy { $0 < maximumNodes && $1.depth <= maximumDepth }
    }

    // MARK: Conditions

    /// Returns the SQL of a condition in parentheses, or `nil` if SQL cannot express it.
    private mutating func condition(_ predicate: RowPredicate, negated: Bool) -> String? {
        switch predicate {
        case .and(let terms): return group(terms, all: !negated, negated: negated)
        case .or(let terms): return group(terms, all: negated, negated: negated)
        case .not(let term): return condition(term, negated: !negated)
        default: return leaf(predicate, negated: negated).map { negated ? "(\($0) IS NOT TRUE)" : $0 }
        }
    }

    private mutating func group(_ terms: [RowPredicate], all: Bool, negated: Bool) -> String? {
        guard !terms.isEmpty else { return all ? "TRUE" : "FALSE" }
        var conditions: [String] = []
        for term in terms {
            guard let condition = condition(term, negated: negated) else { return nil }
            conditions.append(condition)
        }
        return "(\(conditions.joined(separator: all ? " AND " : " OR ")))"
    }

    private mutating func leaf(_ predicate: RowPredicate, negated: Bool) -> String? {
        switch predicate {
        case .literal(let value): value == .bool(true) ? "TRUE" : "FALSE"
        case .column(let name): column(name).map { "(\($0.sql))" }
        case .comparison(let comparison, .column(let name), .literal(let value)):
            column(name).flatMap { compare($0, comparison, value, negated: negated) }
        case .comparison(let comparison, .literal(let value), .column(let name)):
            column(name).flatMap { compare($0, comparison.flipped, value, negated: negated) }
        case .comparison(let comparison, .column(let a), .column(let b)):
            if let a = column(a), let b = column(b) { compare(a, comparison, b) } else { nil }
        case .membership(.column(let name), let values): column(name).flatMap { membership(of: $0, in: values) }
        case .function(let function, let operands): search(function, operands)
        default: nil
        }
    }

    // MARK: Comparisons

    private struct Operand {
        /// The column that is compared.
        var sql: String
        var type: ColumnType
        var prefix: String?
        var isFolded = false
    }

    private func column(_ name: String) -> Operand? {
        if name == "id" {
            let schema = table.schema
            return Operand(sql: table.key, type: schema.idType == .int ? .int : .string, isFolded: schema.foldsID)
        }
        guard let index = table.shape.index(of: name) else { return nil }
        let column = table.columns[index]
        return Operand(sql: column.sqlName, type: column.schema.type, prefix: column.prefix)
    }

    private mutating func compare(
        _ column: Operand, _ comparison: RowPredicate.Comparison, _ value: Value, negated: Bool
    ) -> String? {
        let isEquality = comparison == .equal || comparison == .notEqual
        guard !value.isNull else {
            return isEquality ? "(\(column.sql) IS \(comparison == .equal ? "" : "NOT ")NULL)" : "FALSE"
        }
        guard let stored = Self.value(value, in: column) else {
            // No value of the column equals this one. Its order is left to the evaluator.
            return isEquality ? (comparison == .equal ? "FALSE" : "TRUE") : nil
        }
        let parameter = parameters.append(stored, as: SQLType(column.type))
        // The != of SQL is null if an operand is.
        guard comparison != .notEqual else { return "((\(column.sql) = \(parameter)) IS NOT TRUE)" }
        let test = "\(column.sql) \(comparison.symbol) \(parameter)"
        guard let prefix = column.prefix, !negated else { return "(\(test))" }
        // The beginnings of texts are in the same order as the texts, or equal.
        return "(\(prefix) \(comparison.weakSymbol) \(StoredColumn.beginning(of: parameter)) AND \(test))"
    }

    private func compare(_ a: Operand, _ comparison: RowPredicate.Comparison, _ b: Operand) -> String? {
        guard a.type == b.type, !a.isFolded, !b.isFolded else { return nil }
        switch comparison {
        case .equal: return "(\(a.sql) IS NOT DISTINCT FROM \(b.sql))"
        case .notEqual: return "(\(a.sql) IS DISTINCT FROM \(b.sql))"
        default: return "(\(a.sql) \(comparison.symbol) \(b.sql))"
        }
    }

    private mutating func membership(of column: Operand, in values: [Value]) -> String {
        let candidates = values.compactMap { $0.isNull ? nil : Self.value($0, in: column) }
        var tests: [String] = []
        if !candidates.isEmpty {
            let list = parameters.append(ArrayParameter(candidates, SQLType(column.type)))
            tests.append("\(column.sql) = ANY (\(list))")
        }
        if values.contains(where: \.isNull) { tests.append("\(column.sql) IS NULL") }
        return tests.isEmpty ? "FALSE" : "(\(tests.joined(separator: " OR ")))"
    }

    /// Returns the value of a column's type that is equal to a value, or `nil` if there is none.
    private static func value(_ value: Value, in column: Operand) -> Value? {
        switch (column.type, value) {
        case (.int, .double(let double)): Int64(exactly: double).map { .int($0) }
        case (.double, .int(let int)): Double(exactly: int).map { .double($0) }
        case (.double, .double(let double)): double.isNaN ? nil : value
        case (.string, .string(let text)): column.isFolded ? .string(text.asciiLowercased) : value
        default: value.type == column.type ? value : nil
        }
    }

    // MARK: Text

    private mutating func search(_ function: RowPredicate.Function, _ operands: [RowPredicate]) -> String? {
        guard operands.count == 2, case .column(let name) = operands[0], case .literal(.string(let text)) = operands[1],
            var column = column(name), column.type == .string,
            // The stored form of other texts can contain the stored form of these by chance.
            !text.utf8.contains(where: { $0 <= 2 })
        else { return nil }
        // Functions use the id as it was stored.
        if name == "id" { column.sql = "\"id\"" }
        switch function {
        case .startsWith: return like(column, "\(text.escapedPattern)%")
        case .endsWith: return like(column, "%\(text.escapedPattern)")
        case .contains: return like(column, "%\(text.escapedPattern)%")
        case .equalsIgnoringCase:
            // In the collation "C", only ASCII letters have a lower case.
            return "(lower(\(column.sql)) = \(parameters.append(.string(text.asciiLowercased), as: .text)))"
        default: return nil
        }
    }

    private mutating func like(_ column: Operand, _ pattern: String) -> String {
        "(\(column.sql) LIKE \(parameters.append(.string(pattern), as: .text)))"
    }
}

extension String {
    /// The text as a part of a LIKE pattern that matches only the text.
    fileprivate var escapedPattern: String {
        String(decoding: utf8.flatMap { [0x25, 0x5C, 0x5F].contains($0) ? [0x5C, $0] : [$0] }, as: UTF8.self)
    }
}

extension RowPredicate.Comparison {
    /// The operator that holds between the beginnings of two texts if this one holds between the texts.
    fileprivate var weakSymbol: String {
        switch self {
        case .less: "<="
        case .greater: ">="
        default: symbol
        }
    }
}
