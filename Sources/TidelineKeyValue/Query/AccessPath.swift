internal import TidelineStore

/// The way to a query's rows, as ``QueryRun`` goes it.
struct AccessPath: Sendable {
    /// What is walked along.
    enum Source: Hashable, Sendable {
        case rows
        /// The index at a position in ``StoredTable/indexes``.
        case index(Int)
    }

    /// Where along it.
    enum Places: Sendable {
        /// At these keys of rows, in ascending order.
        case keys([[UInt8]])
        /// In these ranges, in ascending order, none of which reaches into the next.
        case ranges([KeyRange])
    }

    /// In which direction, and whether that is the query's order.
    enum Direction: Sendable {
        /// Ascending, while rows come into order by sorting.
        case unordered
        case ascending
        case descending
        /// From the greatest to the least, but what differs in the id alone by ascending id.
        case descendingTiesAscending

        /// Whether the rows come in the query's order.
        var isOrdered: Bool {
            if case .unordered = self { false } else { true }
        }

        var isAscending: Bool {
            switch self {
            case .unordered, .ascending: true
            case .descending, .descendingTiesAscending: false
            }
        }
    }

    var source: Source
    var places: Places
    var direction: Direction
    /// The conditions that bound the places, for a person.
    var bounds: [Predicate]
    /// What is left to ask of each row; nil when the places say all.
    var filter: Predicate?
}

extension AccessPath {
    /// The way to nowhere.
    static let nowhere = AccessPath(source: .rows, places: .keys([]), direction: .ascending, bounds: [], filter: nil)
}

extension QueryPlan {
    init(_ path: AccessPath, for query: Query, of table: StoredTable) {
        self.table = table.name
        access = Access(path, of: table)
        bounds = path.bounds
        filter = path.filter
        order = query.order
        ordering = path.direction.isOrdered ? .native : query.windowEnd.map(Ordering.keep) ?? .sort
    }
}

extension QueryPlan.Access {
    fileprivate init(_ path: AccessPath, of table: StoredTable) {
        switch (path.source, path.places) {
        case (.rows, .keys(let keys)): self = keys.isEmpty ? .nothing : .ids(keys.count)
        case (.rows, .ranges): self = path.bounds.isEmpty ? .allRows : .idRange
        case (.index(let number), _): self = .index(table.indexes[number].columns)
        }
    }
}

extension Query {
    /// How many rows of the order are of any concern; nil for all.
    var windowEnd: Int? {
        guard let limit else { return nil }
        let (end, overflow) = skip.addingReportingOverflow(limit)
        return overflow ? .max : end
    }
}
