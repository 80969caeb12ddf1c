internal import TidelineStore

extension TableSchema {
    fileprivate static let chosen = TableSchema(
        "Chosen", columns: [.int("n"), .string("s"), .bool("b"), .timestamp("at")], indexes: [["n"], ["s"]])
    fileprivate static let unversioned = TableSchema(
        "Unversioned", columns: [.int("n"), .string("s")], systemColumns: [], indexes: [["n"]])
}

extension CheckContext {
    fileprivate func chosenStore() throws -> TracedStore {
        let store = try store(.chosen, .unversioned)
        try store.write { writer in
            try writer.upsert(
                [
                    ["id": "1", "n": 1, "s": "one", "b": true, "at": .ticks(7), "version": "AAA="],
                    ["id": "2", "n": 2, "b": false],
                ], into: "Chosen")
            try writer.upsert(["id": "1", "n": 1, "s": "one"], into: "Unversioned")
        }
        return store
    }

    /// Fails unless queries return these rows, in a read, in a write, and after reopening.
    fileprivate func expect(_ answers: KeyValuePairs<TableQuery, [Row]>) throws {
        var store = try chosenStore()
        for (query, rows) in answers {
            try expect(store.read { try $0.rows(matching: query) }.rows, are: rows, query.swiftSource)
            try expect(store.write { try $0.rows(matching: query) }.rows, are: rows, "\(query.swiftSource) in a write")
        }
        store = try reopened(store)
        for (query, rows) in answers {
            try expect(store.read { try $0.rows(matching: query) }.rows, are: rows, "\(query.swiftSource), reopened")
        }
    }
}

extension Check {
    /// The columns of the rows.
    static let orderSelection: [Check] = [
        Check(
            "ORD-065", "Without a selection, a row has all columns, with null for those without a value",
            why: "Null is a value: a column that is omitted if it is null looks like one that was not selected."
        ) { context in
            try context.expect([
                TableQuery("Chosen", predicate: .id == "2"): [
                    [
                        "id": "2", "n": 2, "s": .null, "b": false, "at": .null, "createdAt": .null, "updatedAt": .null,
                        "version": .null,
                    ]
                ]
            ])
        },
        Check("ORD-066", "A selection returns its columns and no others, besides id and version") { context in
            try context.expect([
                TableQuery("Chosen").select("s", "n"): [
                    ["id": "1", "n": 1, "s": "one", "version": "AAA="],
                    ["id": "2", "n": 2, "s": .null, "version": .null],
                ]
            ])
        },
        Check(
            "ORD-067", "A selection always includes the version if the table has one",
            why: "A row that is read without its version, changed, and pushed overwrites changes of others."
        ) { context in
            try context.expect([
                TableQuery("Chosen").select("b"): [
                    ["id": "1", "b": true, "version": "AAA="], ["id": "2", "b": false, "version": .null],
                ],
                TableQuery("Unversioned").select("s"): [["id": "1", "s": "one"]],
            ])
        },
        Check("ORD-068", "A selection of no columns returns id and version") { context in
            try context.expect([
                TableQuery("Chosen", selection: []): [["id": "1", "version": "AAA="], ["id": "2", "version": .null]],
                TableQuery("Unversioned", selection: []): [["id": "1"]],
            ])
        },
        Check("ORD-069", "A column that is selected twice occurs once, and so do id and version") { context in
            let query = TableQuery("Chosen", predicate: .id == "1").select("s", "s", "id", "version", "s", "id")
            try context.expect([query: [["id": "1", "s": "one", "version": "AAA="]]])
        },
        Check("ORD-070", "System columns can be selected like others") { context in
            let query = TableQuery("Chosen", predicate: .id == "1").select("updatedAt", "at")
            try context.expect([query: [["id": "1", "at": .ticks(7), "updatedAt": .null, "version": "AAA="]]])
        },
        Check(
            "ORD-071", "A condition on a column that is not selected still applies",
            why: "A store that reads only the selected columns cannot evaluate it."
        ) { context in
            let two = TableQuery("Chosen", predicate: .column("n") == 2).select("b")
            let one = TableQuery("Chosen", predicate: .column("s").hasPrefix("o") && .column("at") > .ticks(1))
            try context.expect([
                two: [["id": "2", "b": false, "version": .null]],
                one.select("n"): [["id": "1", "n": 1, "version": "AAA="]],
            ])
        },
        Check("ORD-072", "Condition, order, paging, and count use columns that are not selected") { context in
            let query = TableQuery("Chosen", predicate: .column("n") > 0, selection: ["b"], includesTotalCount: true)
                .order(by: "n", descending: true).skip(1)
            try context.expect([query: [["id": "1", "b": true, "version": "AAA="]]])
        },
        Check(
            "ORD-073", "A selection of a column that the table does not define is an error, naming the column",
            why: "Some engines treat an unknown name as a text: the row contains a column with its own name."
        ) { context in
            let store = try context.chosenStore()
            for query in [
                TableQuery("Chosen").select("nope"), TableQuery("Chosen").select("n", "nope"),
                TableQuery("Chosen", predicate: .or([])).select("nope"),
            ] {
                try context.expectError(.invalidValue, query.swiftSource, table: "Chosen", column: "nope") {
                    _ = try store.rows(matching: query)
                }
            }
            try context.expectError(.invalidValue, "a selection of N", table: "Chosen", column: "N") {
                _ = try store.rows(matching: TableQuery("Chosen").select("N"))
            }
            try context.expectError(.invalidValue, "a selection of version", table: "Unversioned", column: "version") {
                _ = try store.rows(matching: TableQuery("Unversioned").select("version"))
            }
        },
    ]
}
