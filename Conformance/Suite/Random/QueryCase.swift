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
        var after = rows
        for change in changes {
            if let index = after.firstIndex(where: { $0.id == change.id }) {
                after[index] = after[index].merging(change)
            } else {
                after.append(change)
            }
        }
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
