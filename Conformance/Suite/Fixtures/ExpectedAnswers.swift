internal import TidelineStore

/// Queries over a sample table with their answers, which are written by hand and compared with the evaluator's.
struct ExpectedAnswers {
    /// A query and its answer.
    struct Item {
        var query: TableQuery
        /// The expected identifiers, or `nil` if only the evaluator's answer counts.
        var ids: [RowID]?
        /// Whether a store may refuse the query instead of answering it.
        var mayBeRefused: Bool
    }

    /// The queries.
    private(set) var items: [Item] = []
    /// Whether a store may refuse the queries that are added from here on.
    var mayBeRefused = false
    private let allIDs: [RowID]

    init(_ sample: SampleTable) { allIDs = sample.rows.compactMap(\.id) }

    /// Adds a query that finds these rows, in this order. The sample's definitions replace its table.
    mutating func gives(_ query: TableQuery, _ ids: RowID...) {
        items.append(Item(query: query, ids: ids, mayBeRefused: mayBeRefused))
    }

    /// Adds a query whose answer is the evaluator's.
    mutating func givesAsEvaluated(_ query: TableQuery) {
        items.append(Item(query: query, ids: nil, mayBeRefused: mayBeRefused))
    }

    /// Adds a predicate that finds the rows with these identifiers, in ascending order.
    mutating func finds(_ predicate: RowPredicate, _ ids: RowID...) { add(predicate, ids) }

    /// Adds a predicate that finds every row of the sample, listed in the order of their identifiers.
    mutating func findsAll(_ predicate: RowPredicate) { add(predicate, allIDs) }

    /// Adds a predicate that finds no row.
    mutating func findsNothing(_ predicate: RowPredicate) { add(predicate, []) }

    private mutating func add(_ predicate: RowPredicate, _ ids: [RowID]) {
        items.append(Item(query: TableQuery("", predicate: predicate), ids: ids, mayBeRefused: mayBeRefused))
    }
}
