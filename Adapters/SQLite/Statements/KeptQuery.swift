internal import TidelineStore

/// A compiled query, reused for a query that differs only in its values.
final class KeptQuery {
    /// The rows of the query are returned, counted, or deleted.
    enum Purpose { case rows, count, deletion }

    private let query: TableQuery
    private let purpose: Purpose
    let statement: KeptStatement
    /// The same as ``CompiledQuery/places``.
    private let places: [Int]?
    /// The columns of the rows.
    let shape: RowShape

    private init(_ query: TableQuery, _ purpose: Purpose, _ compiled: CompiledQuery, shape: RowShape) {
        self.query = query
        self.purpose = purpose
        statement = KeptStatement(compiled.sql)
        places = compiled.places
        self.shape = shape
    }

    /// Compiles a valid query.
    static func compile(
        _ query: TableQuery, for purpose: Purpose, of table: StoredTable
    ) throws(StoreError) -> (KeptQuery, [Value]) {
        let columns = purpose == .rows && query.selection != nil ? query.resultColumns(of: table.schema) : nil
        let compiled: CompiledQuery
        switch purpose {
        case .rows: compiled = try table.select(columns.map(StoredTable.columnList) ?? table.columnList, for: query)
        case .count: compiled = try table.selectCount(query)
        case .deletion: compiled = try table.delete(query)
        }
        let shape =
            columns.map { RowShape(table: table.name, idType: table.schema.idType, columns: $0) } ?? table.shape
        return (KeptQuery(query, purpose, compiled, shape: shape), compiled.parameters)
    }

    /// Returns the parameters with which this statement answers another query, or `nil` if the other query has a
    /// different text or might be invalid.
    func parameters(of other: TableQuery, for purpose: Purpose) -> [Value]? {
        guard purpose == self.purpose, other.skip >= 0, other.limit ?? 0 >= 0, query.isWindow == other.isWindow,
            query.order == other.order, query.selection == other.selection
        else { return nil }
        var values: [Value] = []
        switch (query.predicate, other.predicate) {
        case (nil, nil): break
        case (let known?, let predicate?):
            guard known.hasText(of: predicate, values: &values) else { return nil }
        default: return nil
        }
        if purpose != .count, other.isWindow { values += other.windowParameters }
        return CompiledQuery.arrange(values, places)
    }
}

extension RowPredicate {
    /// Returns whether another predicate compiles to the same text and is valid whenever this one is. Appends its
    /// values in the order in which they occur.
    ///
    /// - Parameter levels: How deep to compare. A predicate that is deeper is compiled each time, because a comparison
    ///   could need more stack than the thread has.
    fileprivate func hasText(of other: RowPredicate, values: inout [Value], levels: Int = 50) -> Bool {
        guard levels > 0 else { return false }
        switch (self, other) {
        case (.column(let a), .column(let b)): return a == b
        case (.literal(let a), .literal(let b)): return a.hasText(of: b, values: &values)
        case (.comparison(let a, let a1, let a2), .comparison(let b, let b1, let b2)):
            return a == b && a1.hasText(of: b1, values: &values, levels: levels - 1)
                && a2.hasText(of: b2, values: &values, levels: levels - 1)
        case (.arithmetic(let a, let a1, let a2), .arithmetic(let b, let b1, let b2)):
            return a == b && a1.hasText(of: b1, values: &values, levels: levels - 1)
                && a2.hasText(of: b2, values: &values, levels: levels - 1)
        case (.not(let a), .not(let b)): return a.hasText(of: b, values: &values, levels: levels - 1)
        case (.and(let a), .and(let b)), (.or(let a), .or(let b)):
            return Self.haveTexts(a, b, values: &values, levels: levels - 1)
        case (.function(let a, let aTerms), .function(let b, let bTerms)):
            return a == b && Self.haveTexts(aTerms, bTerms, values: &values, levels: levels - 1)
        case (.membership(let a, let aValues), .membership(let b, let bValues)):
            guard aValues.count == bValues.count, a.hasText(of: b, values: &values, levels: levels - 1) else {
                return false
            }
            for (a, b) in zip(aValues, bValues) where !a.hasText(of: b, values: &values) { return false }
            return true
        default: return false
        }
    }

    private static func haveTexts(
        _ a: [RowPredicate], _ b: [RowPredicate], values: inout [Value], levels: Int
    ) -> Bool {
        guard a.count == b.count else { return false }
        for (a, b) in zip(a, b) where !a.hasText(of: b, values: &values, levels: levels) { return false }
        return true
    }
}

extension Value {
    /// Returns whether another value compiles to the same text: null is written as text, and NaN removes conditions;
    /// for all other values, only the type matters.
    fileprivate func hasText(of other: Value, values: inout [Value]) -> Bool {
        guard type == other.type, !isNaN, !other.isNaN else { return false }
        if !other.isNull { values.append(other) }
        return true
    }

    var isNaN: Bool { if case .double(let double) = self { double.isNaN } else { false } }
}
