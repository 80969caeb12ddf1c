import TidelineStore
import TidelineTestStores
import TidelineConformance

/// Rows of one table and a query over them, whose answer a store is to give as the evaluator does.
struct QueryCase {
    /// How the query is put.
    enum Step: String {
        /// In a read.
        case read
        /// In the write that stores the rows.
        case readInWrite
        /// As what to delete.
        case delete
    }

    private struct RollBack: Error {}

    var schema: TableSchema
    /// The rows, each with all columns.
    var rows: [Row]
    var query: Query
    var step: Step

    /// What the evaluator says.
    func expected() throws -> Answer { try Answer.expected(query, schema, try schema.packed(rows)) }

    /// What a store of a kind does wrong, nil when it does nothing wrong.
    func failure(in kind: StoreKind) -> String? {
        do {
            let store = try kind.makeStore()
            try store.define([schema])
            let expected = try expected()
            switch step {
            case .read:
                try store.write { try $0.upsert(rows, into: schema.name) }
                return try store.read { try Answer.of($0, query).difference(from: expected) }
            case .readInWrite:
                return try store.write { writer in
                    try writer.upsert(rows, into: schema.name)
                    return try Answer.of(writer, query).difference(from: expected)
                }
            case .delete:
                try store.write { try $0.upsert(rows, into: schema.name) }
                return try store.write { try Self.deletion(query, expected, of: rows, by: $0) }
            }
        } catch {
            return "\(error)"
        }
    }

    /// What is wrong with a deletion by a query, nil when nothing is.
    static func deletion(
        _ query: Query, _ expected: Answer, of rows: [Row], by writer: some StoreWriter
    ) throws -> String? {
        let gone = Set(expected.rows.compactMap(\.key))
        let count = try writer.delete(matching: query)
        guard count == gone.count else { return "\(count) rows deleted, \(gone.count) expected" }
        var left = Set<RowID>()
        try writer.scan(Query(query.table, selection: [])) { row in
            left.insert(row.key)
            return .next
        }
        let wanted = Set(rows.compactMap(\.key)).subtracting(gone)
        guard left == wanted else {
            return "left by the deletion: \(left.subtracting(wanted)); gone: \(wanted.subtracting(left))"
        }
        let counted = try writer.count(Query(query.table))
        return counted == wanted.count ? nil : "\(counted) rows counted after the deletion, \(wanted.count) expected"
    }
}

// MARK: - Shrinking

extension QueryCase {
    /// The smallest case found that a kind of store still does wrong.
    func shrunk(for kind: StoreKind) -> QueryCase {
        shrink(self, smaller: \.smaller) { $0.failure(in: kind) != nil }
    }

    private var smaller: [() -> QueryCase] {
        let fewer = rows.withoutRuns.map { rows in { with { $0.rows = rows() } } }
        // With very many rows, fewer of them first: the rest is quicker then.
        return (rows.count > 64 ? Array(fewer.prefix(14)) : []) + simplerQueries + simplerSchemas + fewer + plainerRows
    }

    private func with(_ change: (inout QueryCase) -> Void) -> QueryCase {
        var copy = self
        change(&copy)
        return copy
    }

    private var simplerQueries: [() -> QueryCase] {
        query.simpler.map { query in { with { $0.query = query } } }
    }

    private var simplerSchemas: [() -> QueryCase] {
        let fewerIndexes = schema.indexes.withoutRuns.map { indexes in { with { $0.schema.indexes = indexes() } } }
        let used = query.columns.union(schema.indexes.flatMap(\.columns))
        let unused = schema.columns.filter { !used.contains($0.name) }
        let fewerColumns = unused.map { column in
            {
                with { smaller in
                    smaller.schema.columns.removeAll { $0.name == column.name }
                    smaller.rows = rows.map { $0.filteringColumns { $0 != column.name } }
                }
            }
        }
        return fewerIndexes + fewerColumns
    }

    /// The same rows with one value null, where that may be.
    private var plainerRows: [() -> QueryCase] {
        guard rows.count <= 4 else { return [] }
        return rows.indices.flatMap { index in
            schema.allColumns.filter { $0.isOptional && rows[index][$0.name] != .null }.map { column in
                { with { $0.rows[index][column.name] = .null } }
            }
        }
    }
}

extension Query {
    /// This query with something left out.
    var simpler: [Query] {
        var made: [Query] = []
        func add(_ change: (inout Query) -> Void) {
            var copy = self
            change(&copy)
            if copy != self { made.append(copy) }
        }
        add { $0.predicate = nil }
        add { $0.order = [] }
        add { $0.skip = 0 }
        add { $0.limit = nil }
        add { $0.selection = nil }
        add { $0.includesTotalCount = false }
        for index in order.indices { add { $0.order.remove(at: index) } }
        for simpler in predicate?.simpler ?? [] { add { $0.predicate = simpler } }
        return made
    }

    /// The columns that it names.
    fileprivate var columns: Set<String> {
        Set(order.map(\.column) + (selection ?? [])).union(predicate?.columns ?? [])
    }
}

extension Predicate {
    /// Conditions with something of this one left out. Not all are valid; those fail in another way, for every store.
    fileprivate var simpler: [Predicate] {
        switch self {
        case .and(let terms):
            terms + terms.withoutRuns.map { .and($0()) } + within(terms) { .and($0) }
        case .or(let terms):
            terms + terms.withoutRuns.map { .or($0()) } + within(terms) { .or($0) }
        case .not(let term): [term] + term.simpler.map { .not($0) }
        case .comparison(let comparison, let a, let b):
            within([a, b]) { .comparison(comparison, $0[0], $0[1]) }
        case .membership(let operand, let values):
            values.withoutRuns.map { .membership(operand, $0()) } + operand.simpler.map { .membership($0, values) }
        case .function(let function, let operands):
            operands + within(operands) { .function(function, $0) }
        case .arithmetic(let operation, let a, let b):
            [a, b] + within([a, b]) { .arithmetic(operation, $0[0], $0[1]) }
        case .column, .literal: []
        }
    }

    private func within(_ terms: [Predicate], _ make: ([Predicate]) -> Predicate) -> [Predicate] {
        terms.indices.flatMap { index in
            terms[index].simpler.map { simpler in
                var copy = terms
                copy[index] = simpler
                return make(copy)
            }
        }
    }

    /// The columns that it names.
    fileprivate var columns: Set<String> {
        switch self {
        case .column(let name): [name]
        case .literal: []
        case .and(let terms), .or(let terms), .function(_, let terms): Set(terms.flatMap(\.columns))
        case .not(let term), .membership(let term, _): term.columns
        case .comparison(_, let a, let b), .arithmetic(_, let a, let b): a.columns.union(b.columns)
        }
    }
}

extension QueryCase: CustomStringConvertible {
    /// The case as Swift.
    var description: String {
        """
        // \(step.rawValue)
        let schema = \(schema.swiftSource)
        let rows: [Row] = \(rows.swiftSource)
        let query = \(query.swiftSource)
        """
    }
}
