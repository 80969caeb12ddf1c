internal import TidelineStore

/// Live queries without duplicates.
struct QuerySet: Sequence {
    private var queries: [ObjectIdentifier: LiveRegistration] = [:]

    var isEmpty: Bool { queries.isEmpty }
    mutating func insert(_ query: LiveRegistration) { queries[ObjectIdentifier(query)] = query }
    mutating func remove(_ query: LiveRegistration) { queries[ObjectIdentifier(query)] = nil }
    func makeIterator() -> Dictionary<ObjectIdentifier, LiveRegistration>.Values.Iterator {
        queries.values.makeIterator()
    }
}

/// The live queries of a table, filed so that a changed row meets only those that it may concern.
struct PredicateIndex {
    private var equalities: [(column: ColumnReference, queries: [Value: QuerySet])] = []
    private var ranges: [(column: ColumnReference, queries: IntervalTree)] = []
    /// The queries without an indexed condition.
    private var others = QuerySet()

    var isEmpty: Bool { equalities.isEmpty && ranges.isEmpty && others.isEmpty }

    /// Files a query under a condition.
    mutating func insert(_ query: LiveRegistration, under condition: IndexedCondition) {
        switch condition {
        case .any: others.insert(query)
        case .equality(let column, let values):
            let index = equalities.firstIndex { $0.column == column } ?? equalities.count
            guard !values.isEmpty else { return }
            if index == equalities.count { equalities.append((column, [:])) }
            for value in values { equalities[index].queries[value, default: QuerySet()].insert(query) }
        case .range(let column, let interval):
            let index = ranges.firstIndex { $0.column == column } ?? ranges.count
            guard !interval.isEmpty else { return }
            if index == ranges.count { ranges.append((column, IntervalTree())) }
            ranges[index].queries.insert(query, interval)
        }
    }

    /// Removes a query that was filed under a condition.
    mutating func remove(_ query: LiveRegistration, under condition: IndexedCondition) {
        switch condition {
        case .any: others.remove(query)
        case .equality(let column, let values):
            guard let index = equalities.firstIndex(where: { $0.column == column }) else { return }
            for value in values {
                equalities[index].queries[value]?.remove(query)
                if equalities[index].queries[value]?.isEmpty == true { equalities[index].queries[value] = nil }
            }
            if equalities[index].queries.isEmpty { equalities.remove(at: index) }
        case .range(let column, let interval):
            guard let index = ranges.firstIndex(where: { $0.column == column }) else { return }
            ranges[index].queries.remove(query, interval)
            if ranges[index].queries.isEmpty { ranges.remove(at: index) }
        }
    }

    /// Calls `body` with the queries that may match a row, possibly more than once with the same query.
    func forEachCandidate(of row: borrowing RowView, _ body: (LiveRegistration) -> Void) {
        for (column, queries) in equalities {
            guard let found = queries[column.indexedValue(in: row)] else { continue }
            for query in found { body(query) }
        }
        for (column, queries) in ranges {
            guard let word = column.word(in: row) else { continue }
            queries.forEach(containing: word) { for query in $0 { body(query) } }
        }
        for query in others { body(query) }
    }
}
