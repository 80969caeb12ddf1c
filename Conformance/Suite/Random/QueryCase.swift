internal import TidelineStore

/// Rows of one table, a change to them, and a query that must then be answered as by the evaluator.
struct QueryCase {
    /// How the query is run.
    enum Step: String {
        /// In a read, after the change was committed.
        case read
        /// In the write that makes the change.
        case readInWrite
        /// As a deletion, in a write after the change was committed.
        case delete
    }

    var schema: TableSchema
    /// The rows that are stored first, in a separate write.
    var rows: [Row]
    /// The rows that are inserted or merged next; in one write with ``deleted``.
    var changes: [Row] = []
    /// The rows that are deleted next.
    var deleted: [RowID] = []
    var query: TableQuery
    var step: Step

    /// The rows over which the query runs, each with all columns.
    var rowsAfterwards: [Row] {
        var after = rows.merging(changes)
        after.removeAll { row in row.id.map(deleted.contains) ?? false }
        return schema.completing(after)
    }

    /// Returns the error of an initially empty store, or `nil` if there is none or the query has no answer.
    func failure(in store: some LocalStore) -> String? {
        let after = rowsAfterwards
        guard let packed = try? schema.packed(after),
            let expected = try? Answer.expected(query, schema, packed)
        else { return nil }
        do {
            try store.define([schema])
            try store.write { try $0.upsert(rows, into: schema.name) }
            let difference: String? = try store.write { writer in
                try writer.upsert(changes, into: schema.name)
                try writer.delete(ids: deleted, from: schema.name)
                guard step == .readInWrite else { return nil }
                return try Answer.of(writer, query).difference(from: expected)
            }
            return try difference ?? failure(inFilled: store, expected, after)
        } catch {
            return "an unexpected error was thrown: \(error)"
        }
    }

    private func failure(inFilled store: some LocalStore, _ expected: Answer, _ after: [Row]) throws -> String? {
        switch step {
        case .read: try store.read { try Answer.of($0, query).difference(from: expected) }
        case .readInWrite: nil
        case .delete: try store.write { try QueryCase.deletion(query, expected, of: after, by: $0) }
        }
    }

    /// Returns the error of a deletion by query, or `nil` if there is none.
    static func deletion(
        _ query: TableQuery, _ expected: Answer, of rows: [Row], by writer: some StoreWriter
    ) throws -> String? {
        let gone = Set(expected.rows.compactMap(\.id))
        let count = try writer.delete(matching: query)
        var left = Set<RowID>()
        try writer.scan(TableQuery(query.table, selection: [])) { row in
            left.insert(row.id)
            return .next
        }
        let kept = Set(rows.compactMap(\.id)).subtracting(gone)
        guard left == kept else {
            return """
                the deletion leaves \(CheckContext.text(Array(left.subtracting(kept)))) that match and deletes \
                \(CheckContext.text(Array(kept.subtracting(left)))) that do not match
                """
        }
        guard count == gone.count else { return "the deletion returned \(count), expected \(gone.count)" }
        let counted = try writer.count(TableQuery(query.table))
        return counted == kept.count ? nil : "count(_:) after the deletion is \(counted), expected \(kept.count)"
    }
}

extension QueryCase {
    /// Returns the case as a Swift function that traps if a store's answer differs from the evaluator's.
    func script(named name: String, comment: String) -> String {
        let after = hasChange ? "\n    let after: [Row] = \(Self.list(rowsAfterwards))" : ""
        return """
            import TidelineStore

            // \(comment)
            func \(name)(_ open: (_ directory: String) throws -> any LocalStore) throws {
                let schema = \(schema.swiftSource)
                let rows: [Row] = \(Self.list(rows))\(after)
                let query = \(query.swiftSource)
                var all = PackedRows(shape: schema.makeShape())
                for row in \(hasChange ? "after" : "rows") { try all.append(row) }
                let expected = try Evaluator(schema: schema).result(of: query.includingTotalCount(), over: all)
                let store = try open("store")
                try store.define([schema])
            \(steps.joined(separator: "\n"))
            }
            """
    }

    private var hasChange: Bool { !changes.isEmpty || !deleted.isEmpty }

    private static func list(_ rows: [Row]) -> String {
        rows.isEmpty ? "[]" : "[\n\(rows.map { "        \($0.swiftSource),\n" }.joined())    ]"
    }

    private var steps: [String] {
        switch step {
        case .read: filling + [answering("store.read { reader in", ["return \(answer("reader"))"])] + comparison
        case .readInWrite:
            [storing, answering("store.write { writer in", change + ["return \(answer("writer"))"])] + comparison
        case .delete: filling + deletion
        }
    }

    private var storing: String { "    try store.write { writer in try writer.upsert(rows, into: schema.name) }" }

    /// The writes that produce the rows.
    private var filling: [String] {
        guard hasChange else { return [storing] }
        return [storing, "    try store.write { writer in\n\(change.map { "        \($0)\n" }.joined())    }"]
    }

    private var change: [String] {
        var lines: [String] = []
        if !changes.isEmpty {
            lines.append("let changes: [Row] = \(changes.swiftSource)")
            lines.append("try writer.upsert(changes, into: schema.name)")
        }
        if !deleted.isEmpty { lines.append("_ = try writer.delete(ids: \(deleted.swiftSource), from: schema.name)") }
        return lines
    }

    private func answer(_ handle: String) -> String {
        "(try \(handle).rows(matching: query), try \(handle).count(query))"
    }

    private func answering(_ call: String, _ lines: [String]) -> String {
        "    let (found, count) = try \(call)\n\(lines.map { "        \($0)\n" }.joined())    }"
    }

    private var comparison: [String] {
        let total = query.includesTotalCount ? "expected.totalCount" : "nil"
        return [
            #"    precondition(found.rows == expected.rows, "found \(found.rows), expected \(expected.rows)")"#,
            #"    precondition(found.totalCount == \#(total), "the total count is \(found.totalCount ?? -1)")"#,
            #"    precondition(count == expected.totalCount, "count is \(count), not \(expected.totalCount ?? -1)")"#,
        ]
    }

    private var deletion: [String] {
        [
            "    let count = try store.write { writer in try writer.delete(matching: query) }",
            #"    precondition(count == expected.rows.count, "\(count) deleted, expected \(expected.rows.count)")"#,
            "    let left = try store.read { try $0.rows(matching: TableQuery(schema.name)).rows.map(\\.key) }",
            #"    precondition(left.count == all.count - count, "\(left.count) rows are left")"#,
            #"    precondition(Set(left).isDisjoint(with: expected.rows.map(\.key)), "the remaining rows are \(left)")"#,
        ]
    }
}
