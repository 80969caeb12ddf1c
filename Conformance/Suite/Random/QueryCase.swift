internal import TidelineStore

/// Rows of one table and a query over them, whose answer a store is to give as the evaluator does.
struct QueryCase {
    /// How the query is put.
    enum Step: String {
        /// In a read.
        case read
        /// In the write that stores the rows.
        case readInWrite
        /// As what to delete.
        case delete
    }

    var schema: TableSchema
    /// The rows, each with all columns.
    var rows: [Row]
    var query: Query
    var step: Step

    /// What the evaluator says.
    func expected() throws -> Answer { try Answer.expected(query, schema, try schema.packed(rows)) }

    /// What an empty store does wrong; nil when it does nothing wrong, and for a query that has no answer.
    func failure(in store: some LocalStore) -> String? {
        guard let expected = try? expected() else { return nil }
        do {
            try store.define([schema])
            if step != .readInWrite { try store.write { try $0.upsert(rows, into: schema.name) } }
            switch step {
            case .read: return try store.read { try Answer.of($0, query).difference(from: expected) }
            case .readInWrite:
                return try store.write { writer in
                    try writer.upsert(rows, into: schema.name)
                    return try Answer.of(writer, query).difference(from: expected)
                }
            case .delete:
                return try store.write { try QueryCase.deletion(query, expected, of: rows, by: $0) }
            }
        } catch {
            return "a call failed that should not: \(error)"
        }
    }

    /// What is wrong with a deletion by a query, nil when nothing is.
    static func deletion(
        _ query: Query, _ expected: Answer, of rows: [Row], by writer: some StoreWriter
    ) throws -> String? {
        let gone = Set(expected.rows.compactMap(\.key))
        let count = try writer.delete(matching: query)
        var left = Set<RowID>()
        try writer.scan(Query(query.table, selection: [])) { row in
            left.insert(row.key)
            return .next
        }
        let kept = Set(rows.compactMap(\.key)).subtracting(gone)
        guard left == kept else {
            return """
                a deletion by it leaves \(Trial.text(Array(left.subtracting(kept)))) and takes \
                \(Trial.text(Array(kept.subtracting(left)))) too much
                """
        }
        guard count == gone.count else { return "a deletion by it returned \(count), expected \(gone.count)" }
        let counted = try writer.count(Query(query.table))
        return counted == kept.count ? nil : "after a deletion by it count(_:) is \(counted), expected \(kept.count)"
    }
}

extension QueryCase {
    /// The case as a Swift function that compiles, and stops where a store's answer is not the evaluator's.
    func script(named name: String, comment: String) -> String {
        """
        import TidelineStore

        // \(comment)
        func \(name)(_ open: (_ directory: String) throws -> any LocalStore) throws {
            let schema = \(schema.swiftSource)
            let rows: [Row] = [\(rows.map { "\n        \($0.swiftSource)," }.joined())
            ]
            let query = \(query.swiftSource)
            var all = PackedRows(shape: schema.makeShape())
            for row in rows { try all.append(row) }
            let expected = try Evaluator(schema: schema).result(of: query.includingTotalCount(), over: all)
            let store = try open("store")
            try store.define([schema])
        \(body)
        }
        """
    }

    private var body: String {
        switch step {
        case .read:
            """
                try store.write { try $0.upsert(rows, into: schema.name) }
                let (found, count) = try store.read { (try $0.rows(matching: query), try $0.count(query)) }
            \(comparison)
            """
        case .readInWrite:
            """
                let (found, count) = try store.write { writer in
                    try writer.upsert(rows, into: schema.name)
                    return (try writer.rows(matching: query), try writer.count(query))
                }
            \(comparison)
            """
        case .delete:
            """
                try store.write { try $0.upsert(rows, into: schema.name) }
                let count = try store.write { try $0.delete(matching: query) }
                precondition(count == expected.rows.count, "\\(count) deleted, expected \\(expected.rows.count)")
                let left = try store.read { try $0.rows(matching: Query(schema.name)).rows.map(\\.key) }
                precondition(left.count == rows.count - count, "\\(left.count) rows are left")
                precondition(Set(left).isDisjoint(with: expected.rows.map(\\.key)), "left are \\(left)")
            """
        }
    }

    private var comparison: String {
        """
            precondition(found.rows == expected.rows, "found \\(found.rows), expected \\(expected.rows)")
            precondition(count == expected.totalCount, "count(_:) is \\(count), expected \\(expected.totalCount ?? -1)")
            precondition(found.totalCount == \(query.includesTotalCount ? "count" : "nil"), "the total count is wrong")
        """
    }
}
