internal import TidelineStore

/// Chooses the access path of a query.
///
/// Conjuncts that compare one column with literals are converted to intervals of that column's key component. Candidate
/// plans are ranked by, in this order: lookup of identifiers, the number of columns restricted to single values, a
/// range in the next column, and whether the rows are in the query's order.
struct QueryPlanner {
    enum Purpose {
        /// To return the rows, in order.
        case rows
        /// To count the rows, for which the order is irrelevant.
        case count
    }

    let query: TableQuery
    let table: StoredTable
    let purpose: Purpose
    private let conjuncts: [(conjunct: Conjunct, constraint: ColumnConstraint?)]
    private let isContradiction: Bool

    /// The maximum number of ranges created by combining single values of several columns.
    private static let maximumProduct = 4_096

    /// Creates a planner for a validated query.
    init(_ query: TableQuery, of table: StoredTable, purpose: Purpose) {
        self.query = query
        self.table = table
        self.purpose = purpose
        let all = Conjunct.all(of: query.predicate)
        conjuncts = (all ?? []).map { ($0, ColumnConstraint($0, in: table)) }
        isContradiction = all == nil
    }

    func plan() -> AccessPath {
        if isContradiction { return .nowhere }
        let ids = intervals(of: table.evaluator.id, in: KeyDomain(idsAtEndIn: table))
        if ids?.isEmpty == true { return .nowhere }
        var best = rows(ids)
        if best.isLookUp || table.indexes.isEmpty { return path(of: best) }
        let components = components()
        if components.contains(where: \.intervals.isEmpty) { return .nowhere }
        for number in table.indexes.indices {
            let plan = index(number, components, ids)
            if plan.priority > best.priority, isWorthItsLookUps(plan) { best = plan }
        }
        return path(of: best)
    }

    // MARK: Bounds

    /// The intervals of an indexed column that the constraints allow, as a component of keys.
    private struct Component {
        let column: ColumnReference
        let intervals: KeyIntervals
    }

    /// Returns the components of the indexed columns that have constraints.
    private func components() -> [Component] {
        var components: [Component] = []
        for case (_, let constraint?) in conjuncts {
            let column = constraint.column
            guard !components.contains(where: { $0.column == column }),
                table.indexes.contains(where: { $0.positions.contains(column.position) }),
                let intervals = intervals(of: column, in: KeyDomain(componentsOf: column, in: table))
            else { continue }
            components.append(Component(column: column, intervals: intervals))
        }
        return components
    }

    /// Returns the intervals of a column that the constraints allow, or `nil` if there are no constraints.
    private func intervals(of column: ColumnReference, in domain: KeyDomain) -> KeyIntervals? {
        var all: [KeyIntervals] = []
        for case (_, let constraint?) in conjuncts where constraint.column == column {
            all.append(domain.intervals(forAnyOf: constraint.conditions))
        }
        return KeyIntervals.intersection(of: all)
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

    // MARK: Candidate plans

    private struct CandidatePlan {
        var source: AccessPath.Source
        var keyRanges: AccessPath.KeyRanges
        var direction: AccessPath.Direction = .unordered
        /// The columns whose constraints bound the places.
        var used: [ColumnReference] = []
        /// The columns among ``used`` that are restricted to a single value.
        var fixed: [ColumnReference] = []
        /// The number of columns that are restricted to single values.
        var equalities = 0
        /// Whether a condition other than "not null" restricts the places to a range.
        var isRange = false
        var coversAll = false

        var isLookUp: Bool {
            if case .keys = keyRanges { true } else { false }
        }

        /// The rank of the plan; greater is better.
        var priority: Int {
            var priority = equalities
            for quality in [isRange, coversAll, direction.isOrdered] { priority = priority * 2 + (quality ? 1 : 0) }
            return priority
        }
    }

    /// Whether an index scan is worth the lookup of each row.
    ///
    /// An index scan for its order alone is worthwhile only if it can end early or avoids sorting the whole table.
    private func isWorthItsLookUps(_ plan: CandidatePlan) -> Bool {
        if plan.equalities > 0 || plan.isRange || purpose == .count || query.predicate == nil { return true }
        return query.limit != nil && !query.includesTotalCount
    }

    private func rows(_ ids: KeyIntervals?) -> CandidatePlan {
        var plan = CandidatePlan(source: .rows, keyRanges: .ranges([table.allRows]))
        guard let ids else { return finished(plan, along: []) }
        let prefix = table.rows.prefix
        let domain = KeyDomain(idsAtEndIn: table)
        plan.used = [domain.column]
        if ids.intervals.allSatisfy(domain.isPoint) {
            plan.keyRanges = .keys(ids.intervals.map { prefix + $0.lower })
            if ids.count == 1 { plan.fixed = plan.used }
        } else {
            plan.keyRanges = .ranges(Self.ranges([prefix], ids))
            plan.isRange = true
        }
        return finished(plan, along: [])
    }

    private func index(
        _ number: Int, _ components: [Component], _ ids: KeyIntervals?
    ) -> CandidatePlan {
        let index = table.indexes[number]
        let columns = index.references(in: table)
        var plan = CandidatePlan(source: .index(number), keyRanges: .ranges([]))
        var prefixes = [index.space.prefix]
        for column in columns {
            guard let intervals = components.first(where: { $0.column == column })?.intervals,
                prefixes.count * intervals.count <= Self.maximumProduct
            else { break }
            plan.used.append(column)
            guard intervals.intervals.allSatisfy(KeyDomain(componentsOf: column, in: table).isPoint) else {
                plan.isRange = intervals != .allValues
                plan.keyRanges = .ranges(Self.ranges(prefixes, intervals))
                return finished(plan, along: columns)
            }
            prefixes = prefixes.flatMap { prefix in intervals.intervals.map { prefix + $0.lower } }
            plan.equalities += 1
            if intervals.count == 1 { plan.fixed.append(column) }
        }
        plan.keyRanges = .ranges(prefixes.map { KeyRange(prefix: $0) })
        let id = table.evaluator.id
        // Keys end with the identifier. A single interval of identifiers keeps entries that differ only in the
        // identifier together.
        if let ids, ids.count == 1, plan.equalities == columns.count, !columns.contains(id) {
            plan.used.append(id)
            plan.isRange = true
            plan.keyRanges = .ranges(Self.ranges(prefixes, ids))
        }
        return finished(plan, along: columns)
    }

    private func finished(_ plan: CandidatePlan, along columns: [ColumnReference]) -> CandidatePlan {
        var plan = plan
        switch purpose {
        case .rows: plan.direction = direction(along: columns, fixed: plan.fixed)
        case .count:
            plan.direction = .ascending
            plan.coversAll = conjuncts.allSatisfy { isCovered($0.constraint, by: plan) }
        }
        return plan
    }

    // MARK: Result

    private func path(of plan: CandidatePlan) -> AccessPath {
        var bounds: [RowPredicate] = []
        var rest: [RowPredicate] = []
        for (conjunct, constraint) in conjuncts {
            if let constraint, plan.used.contains(constraint.column) { bounds.append(conjunct.predicate) }
            if !isCovered(constraint, by: plan) { rest.append(conjunct.predicate) }
        }
        return AccessPath(
            source: plan.source, keyRanges: plan.keyRanges, direction: plan.direction, bounds: bounds,
            filter: rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .and(rest))
    }

    /// Whether all rows in the places satisfy the conjunct.
    private func isCovered(_ constraint: ColumnConstraint?, by plan: CandidatePlan) -> Bool {
        guard let constraint else { return false }
        return constraint.isExact && plan.used.contains(constraint.column)
    }
}

extension StoredIndex {
    /// Returns the columns of the index.
    func references(in table: StoredTable) -> [ColumnReference] {
        zip(positions, types).map { position, type in
            ColumnReference(position: position, type: type, folds: position == nil && table.ids == .folded)
        }
    }
}

extension KeyIntervals {
    /// All values except null.
    static let allValues = KeyIntervals(union: [KeyInterval(lower: [KeyBuilder.Mark.notANumber], upper: nil)])
}
