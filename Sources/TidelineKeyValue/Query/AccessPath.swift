internal import TidelineStore

/// The access path to a query's rows, as executed by ``QueryRun``.
struct AccessPath: Sendable {
    /// The sequence of keys that is scanned.
    enum Source: Hashable, Sendable {
        case rows
        /// The index at a position in ``StoredTable/indexes``.
        case index(Int)
    }

    /// The parts of the sequence that are visited.
    enum KeyRanges: Sendable {
        /// These row keys, in ascending order.
        case keys([[UInt8]])
        /// These ranges, in ascending order and without overlaps.
        case ranges([KeyRange])
    }

    /// The direction of the scan, and whether it yields the query's order.
    enum Direction: Sendable {
        /// Ascending, with rows sorted afterwards.
        case unordered
        case ascending
        case descending
        /// Descending, except that entries that differ only in the identifier are in ascending order of identifier.
        case descendingTiesAscending

        /// Whether the scan yields the query's order.
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
    var keyRanges: KeyRanges
    var direction: Direction
    /// The conditions that determine the places, for display.
    var bounds: [RowPredicate]
    /// The residual predicate to evaluate for each row, or `nil` if the places satisfy all conditions.
    var filter: RowPredicate?
}

extension AccessPath {
    /// The path that visits no rows.
    static let nowhere = AccessPath(source: .rows, keyRanges: .keys([]), direction: .ascending, bounds: [], filter: nil)
}

extension QueryPlan {
    init(_ path: AccessPath, for query: TableQuery, of table: StoredTable) {
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
        switch (path.source, path.keyRanges) {
        case (.rows, .keys(let keys)): self = keys.isEmpty ? .nothing : .ids(keys.count)
        case (.rows, .ranges): self = path.bounds.isEmpty ? .allRows : .idRange
        case (.index(let number), _): self = .index(table.indexes[number].columns)
        }
    }
}

extension TableQuery {
    /// The number of rows at the beginning of the order that are needed, or `nil` for all.
    var windowEnd: Int? {
        guard let limit else { return nil }
        let (end, overflow) = skip.addingReportingOverflow(limit)
        return overflow ? .max : end
    }
}
