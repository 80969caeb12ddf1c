internal import TidelineStore

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
