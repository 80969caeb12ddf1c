internal import TidelineStore

extension QueryCase {
    /// Returns the smallest case found that still fails.
    func shrunk(fails: (QueryCase) -> Bool) -> QueryCase { shrink(self, smaller: \.smaller, fails: fails) }

    private var smaller: [() -> QueryCase] {
        let fewer = rows.withoutRuns.map { rows in { with { $0.rows = rows() } } }
        // If there are very many rows, their number is reduced first, because that makes the remaining steps faster.
        return simplerChanges + (rows.count > 64 ? Array(fewer.prefix(14)) : []) + simplerQueries + simplerSchemas
            + fewer + plainerRows
    }

    private func with(_ change: (inout QueryCase) -> Void) -> QueryCase {
        var copy = self
        change(&copy)
        return copy
    }

    /// The case with the rows stored directly in their changed form, or with a smaller change.
    private var simplerChanges: [() -> QueryCase] {
        guard !changes.isEmpty || !deleted.isEmpty else { return [] }
        let atOnce = {
            with { smaller in
                smaller.rows = rowsAfterwards
                (smaller.changes, smaller.deleted) = ([], [])
            }
        }
        return [atOnce] + changes.withoutRuns.map { changes in { with { $0.changes = changes() } } }
            + deleted.withoutRuns.map { deleted in { with { $0.deleted = deleted() } } }
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
                    smaller.changes = changes.map { $0.filteringColumns { $0 != column.name } }
                }
            }
        }
        return fewerIndexes + fewerColumns
    }

    /// The same rows with one value null, where allowed.
    private var plainerRows: [() -> QueryCase] {
        guard rows.count <= 4 else { return [] }
        return rows.indices.flatMap { index in
            schema.allColumns.filter { $0.isOptional && rows[index][$0.name] != .null }.map { column in
                { with { $0.rows[index][column.name] = .null } }
            }
        }
    }
}

extension TableQuery {
    /// Variants of this query with one part removed.
    var simpler: [TableQuery] {
        var made: [TableQuery] = []
        func add(_ isChange: Bool = true, _ change: (inout TableQuery) -> Void) {
            guard isChange else { return }
            var copy = self
            change(&copy)
            made.append(copy)
        }
        add(predicate != nil) { $0.predicate = nil }
        add(!order.isEmpty) { $0.order = [] }
        add(skip != 0) { $0.skip = 0 }
        add(limit != nil) { $0.limit = nil }
        add(selection != nil) { $0.selection = nil }
        add(includesTotalCount) { $0.includesTotalCount = false }
        for index in order.indices { add { $0.order.remove(at: index) } }
        for simpler in predicate?.simpler ?? [] { add { $0.predicate = simpler } }
        return made
    }

    /// The columns that the query names.
    fileprivate var columns: Set<String> {
        Set(order.map(\.column) + (selection ?? [])).union(predicate?.columns ?? [])
    }
}

extension RowPredicate {
    /// Variants of this predicate with one part removed. Some may be invalid.
    fileprivate var simpler: [RowPredicate] {
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

    private func within(_ terms: [RowPredicate], _ make: ([RowPredicate]) -> RowPredicate) -> [RowPredicate] {
        terms.indices.flatMap { index in
            terms[index].simpler.map { simpler in
                var copy = terms
                copy[index] = simpler
                return make(copy)
            }
        }
    }

    /// The columns that the predicate names.
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
