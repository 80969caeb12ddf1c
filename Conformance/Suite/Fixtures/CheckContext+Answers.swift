internal import TidelineStore

extension CheckContext {
    /// Fails unless a store gives the expected answers over a sample, with every combination of indexes: in a read, in
    /// a write after changes in the same transaction, in deletions by query, and after reopening.
    ///
    /// - Parameters:
    ///   - readOnly: Whether to check reads only, for queries that take long.
    ///   - isDeep: Whether to check reads only, on a small stack, for queries that are nested.
    func expectAnswers(
        over sample: SampleTable, readOnly: Bool = false, isDeep: Bool = false,
        _ list: (inout ExpectedAnswers) -> Void
    ) throws {
        var answers = ExpectedAnswers(sample)
        list(&answers)
        let run = try AnswerRun(sample, answers)
        var store = try open()
        try store.define(sample.definitions)
        try store.write { writer in
            // Inserted in reverse, so that the order of insertion differs from the order of identifiers.
            for schema in sample.definitions { try writer.upsert(sample.rows.reversed(), into: schema.name) }
        }
        if isDeep {
            // The expectation and the text of a failure need a larger stack.
            return try run.ask(AnswerRun.inRead) { [store] query in
                try onSmallStack("a nested query") { try store.read { try Answer.of($0, query) } }
            }
        }
        try store.read { try run.ask($0, AnswerRun.inRead) }
        if readOnly { return }
        try store.rollBack { try run.ask(inWrite: $0) }
        guard capabilities.isPersistent else { return }
        store = try reopened(store)
        try store.read { try run.ask($0, "after the store was reopened") }
    }
}

/// The queries of a sample as they are run against a store.
private struct AnswerRun {
    private struct Case {
        var query: TableQuery
        var expected: Answer
        var mayBeRefused: Bool
    }

    static let inRead = "in a read"

    private let sample: SampleTable
    /// The rows with all columns, sorted by identifier.
    private let rows: [Row]
    private let cases: [Case]

    init(_ sample: SampleTable, _ answers: ExpectedAnswers) throws {
        let schema = sample.definitions[0]
        let packed = try schema.packed(schema.completing(sample.rows))
        self.sample = sample
        rows = try Evaluator(schema: schema).result(of: TableQuery(schema.name), over: packed).rows
        cases = try answers.items.map { item in
            let expected = try Answer.expected(item.query, schema, packed)
            let ids = expected.rows.compactMap(\.id)
            if let fixed = item.ids, fixed != ids {
                throw HarnessError(
                    "\(item.query.swiftSource) is \(CheckContext.text(ids)), not \(CheckContext.text(fixed))")
            }
            return Case(query: item.query, expected: expected, mayBeRefused: item.mayBeRefused)
        }
    }

    /// Runs all queries on all tables.
    func ask(_ reader: some StoreReader, _ place: String) throws {
        try ask(place) { try Answer.of(reader, $0) }
    }

    /// Expects the answers to all queries on all tables.
    func ask(_ place: String, _ answer: (TableQuery) throws -> Answer) throws {
        for schema in sample.definitions {
            for item in cases {
                try telling(item, schema, place) { try answer($0).difference(from: item.expected) }
            }
        }
    }

    /// Runs all queries within one write, after its rows were changed and restored, and deletes by them. The final
    /// content of the tables equals the initial content, whether or not the write is rolled back.
    func ask(inWrite writer: some StoreWriter) throws {
        for schema in sample.definitions { try stir(schema.name, writer) }
        try ask(writer, "in a write, after changes of its own")
        for schema in sample.definitions {
            for item in cases { try delete(item, from: schema, writer) }
        }
    }

    /// Exchanges values between rows, adds and removes others, and restores them: no index may keep or miss entries.
    private func stir(_ table: String, _ writer: some StoreWriter) throws {
        let others = rows.enumerated().map { index, row in
            copy(of: row, id: sample.idType == .int ? .int(Int64(7_000 + index)) : .string("other-\(index)"))
        }
        let moved = zip(rows, rows.dropFirst() + rows.prefix(1)).map { copy(of: $1, id: $0.id) }
        try writer.upsert(moved + others, into: table)
        let gone = rows.enumerated().filter { $0.offset % 2 == 0 }.compactMap(\.element.id)
        try writer.delete(ids: gone + others.compactMap(\.id), from: table)
        try writer.upsert(rows, into: table)
    }

    private func copy(of row: Row, id: RowID?) -> Row {
        var copy = row
        copy.id = id
        return copy
    }

    /// Deletes the rows that a query finds, checks the remaining rows, and restores the deleted ones.
    private func delete(_ item: Case, from schema: TableSchema, _ writer: some StoreWriter) throws {
        let gone = Set(item.expected.rows.compactMap(\.id))
        try telling(item, schema, "by delete(matching:)") { query in
            let count = try writer.delete(matching: query)
            let left = try writer.rows(matching: TableQuery(schema.name, selection: [])).rows.compactMap(\.id)
            let kept = rows.compactMap(\.id).filter { !gone.contains($0) }
            if left != kept {
                return "the remaining rows are \(CheckContext.text(left)), expected \(CheckContext.text(kept))"
            }
            return count == gone.count ? nil : "it returned \(count), expected \(gone.count)"
        }
        try writer.upsert(rows.filter { $0.id.map(gone.contains) ?? false }, into: schema.name)
    }

    /// Converts a difference or an error into a failure that names the query and where it was run.
    private func telling(
        _ item: Case, _ schema: TableSchema, _ place: String, _ difference: (TableQuery) throws -> String?
    ) throws {
        var query = item.query
        query.table = schema.name
        do {
            guard let difference = try difference(query) else { return }
            let about = "\(CheckContext.text(query)) \(place)"
            let failing = QueryCase(schema: schema, rows: rows, query: query, step: .read)
            throw CheckFailure(
                "\(about): \(difference)",
                script: place == AnswerRun.inRead
                    ? failing.script(named: "wrongAnswer", comment: "a sample of the suite") : nil)
        } catch let error as StoreError {
            if item.mayBeRefused, error.code == .unsupportedQuery { return }
            throw CheckFailure("\(CheckContext.text(query)) \(place): an unexpected error was thrown: \(error)")
        }
    }
}

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
