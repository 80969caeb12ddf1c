internal import TidelineStore

extension Check {
    /// Definitions that change during reads and writes.
    static let concurrencyDefinitions: [Check] = [
        Check(
            "CON-020", "Readers during definition changes see rows and a definition of one version", tier: .stress
        ) { context in
            let store = try context.store(version(0), holding: [Row(id: "x")])
            try context.beside(readers: 3, first: ()) { _ in
                try store.read { reader in
                    let schema = try reader.schema(of: "T")
                    let row = try reader.row(in: "T", id: "x")
                    let names = schema.columns.map(\.name)
                    try context.expect(row?.columnNames ?? [], is: names, "the columns of a row, as defined")
                    // The index that this definition has and the next one does not have.
                    let query = TableQuery("T").filter(.column(schema.indexes[0].columns[0]) == .null)
                    try context.expect(reader.count(query), is: 1, "the count through the definition's index")
                }
            } _: {
                for number in 1...(40 * context.rounds) { try store.define([version(number)]) }
            }
        },
        Check("CON-021", "Definitions made by several threads at once are all stored, each once") { context in
            let store = try context.open()
            let count = 8
            try context.onThreads(4, "threads that define tables") { thread in
                for number in 0..<count {
                    let own = TableSchema("T\(thread)x\(number)", columns: [.int("n")], indexes: [["n"]])
                    try store.define([own, .notes, .items])
                    try store.put(["id": "a", "n": .int(Int64(number))], into: own.name)
                    let query = TableQuery(own.name).filter(.column("n") == .literal(.int(Int64(number))))
                    try context.expect(store.count(query), is: 1, "the row of the thread's own table")
                }
            }
            let names = (0..<4).flatMap { thread in (0..<count).map { "T\(thread)x\($0)" } } + ["Note", "TodoItem"]
            try context.expect(store.tables().map(\.name), is: names.sorted(), "the tables")
        },
        Check(
            "CON-022", "An index defined during writes has exactly one entry for every row",
            why: "Rows that are inserted while an index is built may be missed or indexed twice.", tier: .stress
        ) { context in
            let plain = TableSchema("T", columns: [.int("n"), .string("text")])
            var indexed = plain
            indexed.indexes = [["n"], ["text", "n"]]
            for round in 0..<(4 * context.rounds) {
                let old = (0..<200).map { row("old\($0)", $0) }
                let store = try context.store(plain, holding: old, in: "store\(round)")
                let team = ThreadTeam(context)
                let begun = Signal()
                team.start {
                    for step in 0..<40 {
                        try store.write { writer in
                            try writer.upsert([row("new\(step)", step), row("old\(step)", step + 1_000)], into: "T")
                            try writer.delete(ids: [.string("old\(199 - step)")], from: "T")
                        }
                        if step == 2 { begun.send() }
                    }
                }
                try begun.wait(context, "the writer makes no progress")
                try store.define([indexed])
                try team.wait(for: "a writer during a definition")
                try store.read { reader in
                    let rows = try reader.allRows("T")
                    try context.expect(rows.count, is: 200, "the rows after as many insertions as deletions")
                    try context.expectIndexes(of: indexed, in: reader, find: rows, formerly: [["n": 199]], "afterwards")
                }
            }
        },
        Check("CON-023", "Repeating the same definition does not disturb readers and writers", tier: .stress) {
            context in
            let store = try context.store(.notes)
            try context.beside(readers: 2, first: 0) { last in
                try store.define([.notes])
                let count = try store.count(TableQuery("Note"))
                try context.expect(count >= last, "\(count) rows came after \(last)")
                return count
            } _: {
                for number in 0..<(100 * context.rounds) {
                    try store.put(["id": .string("n\(number)")], into: "Note")
                }
            }
            try context.expect(store.count(TableQuery("Note")), is: 100 * context.rounds, "the rows afterwards")
        },
    ]

    /// Returns the n-th definition of the table.
    private static func version(_ number: Int) -> TableSchema {
        let columns = (0...number % 5).map { ColumnSchema.int("c\($0)") }
        return TableSchema("T", columns: columns, systemColumns: [], indexes: [IndexSchema(["c\(number % 5)"])])
    }

    private static func row(_ id: String, _ number: Int) -> Row {
        ["id": .string(id), "n": .int(Int64(number)), "text": .string("t\(number % 10)")]
    }
}
