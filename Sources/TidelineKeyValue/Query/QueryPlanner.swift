internal import TidelineStore

/// Chooses the way to a query's rows.
///
/// From the conditions all of which must hold, those on one column against literals become intervals of that column's
/// part of the keys. A way is rated by, in this order: looking ids up; the number of columns held to single values; a
/// range in the column after them; whether the rows come in the query's order.
struct QueryPlanner {
    /// What is asked for.
    enum Purpose {
        /// The rows, in order.
        case rows
        /// Their number, for which no order matters.
        case count
    }

    private let query: Query
    private let table: StoredTable
    private let purpose: Purpose
    /// The conjuncts that no bounds can stand for, and those with a constraint.
    private let conjuncts: [(conjunct: Conjunct, constraint: ColumnConstraint?)]
    /// What the constraints leave of the columns, as components of keys.
    private let components: [ColumnReference: KeyIntervals]
    /// What the constraints leave of the ids, as they end keys.
    private let ids: KeyIntervals?
    private let isContradiction: Bool

    /// So many ranges at most come of single values of several columns.
    private static let maximumProduct = 4_096

    /// A planner for a query that was validated.
    init(_ query: Query, of table: StoredTable, purpose: Purpose) {
        self.query = query
        self.table = table
        self.purpose = purpose
        let all = Conjunct.all(of: query.predicate)
        conjuncts = (all ?? []).map { ($0, ColumnConstraint($0, in: table)) }
        let constraints = Dictionary(grouping: conjuncts.compactMap(\.constraint), by: \.column)
        var components: [ColumnReference: KeyIntervals] = [:]
        for (column, constraints) in constraints {
            components[column] = Self.intervals(of: constraints, in: KeyDomain(componentsOf: column, in: table))
        }
        self.components = components
        ids = Self.intervals(
            of: constraints[ColumnReference(idOf: table)] ?? [], in: KeyDomain(idsAtEndIn: table))
        isContradiction = all == nil || ids?.isEmpty == true || components.values.contains(where: \.isEmpty)
    }

    private static func intervals(of constraints: [ColumnConstraint], in domain: KeyDomain) -> KeyIntervals? {
        KeyIntervals.intersection(of: constraints.compactMap { domain.intervals(forAnyOf: $0.conditions) })
    }

    /// The best way.
    func plan() -> AccessPath {
        if isContradiction { return .nowhere }
        var best = rows()
        for number in table.indexes.indices {
            let way = index(number)
            if way.merit > best.merit, isWorthItsLookUps(way) { best = way }
        }
        return path(of: best)
    }

    // MARK: Ways

    /// A way that could be gone.
    private struct Way {
        var source: AccessPath.Source
        var places: AccessPath.Places
        var direction: AccessPath.Direction = .unordered
        /// The columns by whose constraints the places are bounded.
        var used: Set<ColumnReference> = []
        /// How many columns are held to single values.
        var equalities = 0
        /// Whether the places are a part of those values that a condition other than "not null" cuts out.
        var isRange = false
        var coversAll = false

        var merit: Merit {
            var isLookUp = false
            if case .keys = places { isLookUp = true }
            var isOrdered = true
            if case .unordered = direction { isOrdered = false }
            return Merit(values: [isLookUp ? 1 : 0, equalities, isRange ? 1 : 0, coversAll ? 1 : 0, isOrdered ? 1 : 0])
        }
    }

    private struct Merit: Comparable {
        let values: [Int]

        static func < (a: Self, b: Self) -> Bool { a.values.lexicographicallyPrecedes(b.values) }
    }

    /// Going along an index only for its order costs a look-up for each row passed. That pays when it may end early or
    /// spares sorting the whole table.
    private func isWorthItsLookUps(_ way: Way) -> Bool {
        if way.equalities > 0 || way.isRange || purpose == .count || query.predicate == nil { return true }
        return query.limit != nil && !query.includesTotalCount
    }

    private func rows() -> Way {
        let prefix = table.rows.prefix
        var way = Way(source: .rows, places: .ranges([table.rows.range]))
        guard let ids else { return finished(way, fixed: []) }
        let domain = KeyDomain(idsAtEndIn: table)
        way.used = [domain.column]
        if ids.intervals.allSatisfy(domain.isPoint) {
            way.places = .keys(ids.intervals.map { prefix + $0.lower })
        } else {
            way.places = .ranges(Self.ranges([prefix], ids))
            way.isRange = true
        }
        return finished(way, fixed: ids.count == 1 && domain.isPoint(ids.intervals[0]) ? [domain.column] : [])
    }

    private func index(_ number: Int) -> Way {
        let index = table.indexes[number]
        let columns = index.columns.compactMap { ColumnReference($0, in: table) }
        var way = Way(source: .index(number), places: .ranges([]))
        var prefixes = [index.space.prefix]
        var fixed: Set<ColumnReference> = []
        for column in columns {
            guard let intervals = components[column], prefixes.count * intervals.count <= Self.maximumProduct
            else { break }
            way.used.insert(column)
            let domain = KeyDomain(componentsOf: column, in: table)
            guard intervals.intervals.allSatisfy(domain.isPoint) else {
                way.isRange = intervals != .allValues
                way.places = .ranges(Self.ranges(prefixes, intervals))
                return finished(way, fixed: fixed, columns: columns)
            }
            prefixes = prefixes.flatMap { prefix in intervals.intervals.map { prefix + $0.lower } }
            way.equalities += 1
            if intervals.count == 1 { fixed.insert(column) }
        }
        way.places = .ranges(prefixes.map { KeyRange(prefix: $0) })
        let idColumn = ColumnReference(idOf: table)
        // Keys end with the id. One interval of ids leaves what differs in the id alone together.
        if let ids, ids.count == 1, way.equalities == columns.count, !columns.contains(idColumn) {
            way.used.insert(idColumn)
            way.isRange = true
            way.places = .ranges(Self.ranges(prefixes, ids))
        }
        return finished(way, fixed: fixed, columns: columns)
    }

    private func finished(_ way: Way, fixed: Set<ColumnReference>, columns: [ColumnReference] = []) -> Way {
        var way = way
        switch purpose {
        case .rows: way.direction = direction(along: columns, fixed: fixed)
        case .count:
            way.direction = .ascending
            way.coversAll = conjuncts.allSatisfy { isCovered($0.constraint, by: way.used) }
        }
        return way
    }

    private static func ranges(_ prefixes: [[UInt8]], _ intervals: KeyIntervals) -> [KeyRange] {
        prefixes.flatMap { prefix in
            intervals.intervals.map { interval in
                KeyRange(
                    from: prefix + interval.lower,
                    to: interval.upper.map { prefix + $0 } ?? KeyRange.end(ofPrefix: prefix))
            }
        }
    }

    // MARK: Order

    /// In which direction keys of these columns, and then of the id, come in the query's order.
    ///
    /// - Parameter fixed: The columns of which there is a single value.
    private func direction(along columns: [ColumnReference], fixed: Set<ColumnReference>) -> AccessPath.Direction {
        let id = ColumnReference(idOf: table)
        if fixed.contains(id) { return .ascending }
        var terms = decidingTerms(fixed: fixed, id: id)
        // Ties come by ascending id without its being asked for.
        if let last = terms.last, last.column == id, !last.isDescending { terms.removeLast() }
        let order = columns.filter { !fixed.contains($0) } + [id]
        let isDescending = terms.first?.isDescending ?? false
        guard terms.count <= order.count, terms.allSatisfy({ $0.isDescending == isDescending }),
            zip(terms, order).allSatisfy({ $0.column == $1 })
        else { return .unordered }
        if terms.last?.column == id { return .descending }
        // What follows the terms must be the id.
        guard order[terms.count] == id else { return .unordered }
        guard isDescending else { return .ascending }
        return order.count == terms.count + 1 && !columns.contains(id) ? .descendingTiesAscending : .unordered
    }

    /// The terms that decide something: none of a column with a single value, no column twice, none after the id.
    private func decidingTerms(
        fixed: Set<ColumnReference>, id: ColumnReference
    ) -> [(column: ColumnReference, isDescending: Bool)] {
        var seen = fixed
        var terms: [(column: ColumnReference, isDescending: Bool)] = []
        for term in query.order {
            guard let column = ColumnReference(term.column, in: table), seen.insert(column).inserted else { continue }
            terms.append((column, term.isDescending))
            if column == id { break }
        }
        return terms
    }

    // MARK: Result

    private func path(of way: Way) -> AccessPath {
        var bounds: [Predicate] = []
        var rest: [Predicate] = []
        for (conjunct, constraint) in conjuncts {
            if let constraint, way.used.contains(constraint.column) { bounds.append(conjunct.predicate) }
            if !isCovered(constraint, by: way.used) { rest.append(conjunct.predicate) }
        }
        return AccessPath(
            source: way.source, places: way.places, direction: way.direction, bounds: bounds,
            filter: rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .and(rest))
    }

    /// Whether the places that these columns bound leave only rows for which the conjunct holds.
    private func isCovered(_ constraint: ColumnConstraint?, by used: Set<ColumnReference>) -> Bool {
        guard let constraint, used.contains(constraint.column), constraint.isExact else { return false }
        return KeyDomain(componentsOf: constraint.column, in: table).intervals(forAnyOf: constraint.conditions) != nil
    }
}

extension KeyIntervals {
    /// Of all values but null.
    static let allValues = KeyIntervals(KeyInterval(lower: [KeyBuilder.Mark.notANumber], upper: nil))
}
