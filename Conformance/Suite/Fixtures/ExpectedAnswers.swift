internal import TidelineStore

/// Queries over a sample table with the answers to them, which are fixed by hand and held to the evaluator's.
struct ExpectedAnswers {
    /// A query and its answer.
    struct Item {
        var query: Query
        /// Nil where the evaluator's answer alone is the measure.
        var ids: [RowID]?
        /// Whether a store may refuse the query, as long as it gives no wrong answer.
        var mayBeRefused: Bool
    }

    /// What is asked.
    private(set) var items: [Item] = []
    /// Whether a store may refuse the queries that are added from here on.
    var mayBeRefused = false
    private let allIDs: [RowID]

    init(_ sample: SampleTable) { allIDs = sample.rows.compactMap(\.key) }

    /// A query finds the rows of these ids, in this order. Its table is any: the definitions of the sample are put there.
    mutating func gives(_ query: Query, _ ids: RowID...) {
        items.append(Item(query: query, ids: ids, mayBeRefused: mayBeRefused))
    }

    /// A query gives what the evaluator says.
    mutating func givesAsEvaluated(_ query: Query) {
        items.append(Item(query: query, ids: nil, mayBeRefused: mayBeRefused))
    }

    /// A condition finds the rows of these ids, which come in ascending order.
    mutating func finds(_ predicate: Predicate, _ ids: RowID...) { add(predicate, ids) }

    /// A condition finds every row of the sample; its rows are listed in the order of their ids then.
    mutating func findsAll(_ predicate: Predicate) { add(predicate, allIDs) }

    /// A condition finds no row.
    mutating func findsNothing(_ predicate: Predicate) { add(predicate, []) }

    private mutating func add(_ predicate: Predicate, _ ids: [RowID]) {
        items.append(Item(query: Query("", predicate: predicate), ids: ids, mayBeRefused: mayBeRefused))
    }
}
