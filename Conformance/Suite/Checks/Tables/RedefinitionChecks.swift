internal import TidelineStore

extension Check {
    /// Definitions that are derived from the stored ones.
    static let tableRedefinitions: [Check] = [
        Check(
            "TAB-206",
            "A redefinition receives the stored tables and rows, and applies the tables that its body returns",
            why: "A sync core adds a column to the stored definition, and moves values to it."
        ) { context in
            let old: [Row] = [["id": "a", "number": 1], ["id": "d", "number": 1], ["id": "e", "number": 5]]
            let store = try context.store(.notes, holding: old)
            try store.redefine { writer in
                var schema = try writer.schema(of: "Note")
                schema.columns.append(.int("twice"))
                schema.indexes += [["twice"], ["number"]]
                let number = try writer.row(in: "Note", id: "a")?["number"]
                try context.expect(number, is: 1, "the number that the body of a redefinition reads")
                try writer.upsert([["id": "b", "number": 2], ["id": "d", "number": 3]] as [Row], into: "Note")
                try writer.delete(id: "e", from: "Note")
                return [schema, .t(.int("n"))]
            }
            try context.expect(store.tables().map(\.name), is: ["Note", "t"], "the tables after a redefinition")
            try expectNumbers(in: store, context)
            try store.put([["id": "b", "twice": 4]], into: "Note")
            let store2 = try context.reopened(store)
            try expectNumbers(in: store2, context)
            try context.expect(TableQuery("Note").filter(.column("twice") == 4), in: store2, finds: ["b"])
            try context.expect(TableQuery("Note").filter(.column("twice").isNull), in: store2, finds: ["a", "d"])
            let before = try store2.tables()
            try store2.redefine { writer in
                try writer.upsert(["id": "c"] as Row, into: "Note")
                return []
            }
            try context.expect(store2.tables(), is: before, "the tables after a redefinition that returns none")
            try context.expect(TableQuery("Note"), in: store2, finds: ["a", "b", "c", "d"])
        },
        Check(
            "TAB-207", "A redefinition that throws or is invalid leaves neither its rows nor its definitions",
            why: "A store must not commit the rows before it knows whether the definitions are valid."
        ) { context in
            struct Thrown: Error {}
            let stores = try openings(2, context)
            let store = stores[0]
            try store.define([.notes])
            do {
                try store.redefine { writer in
                    try writer.upsert(["id": "a"] as Row, into: "Note")
                    throw Thrown()
                }
                throw CheckFailure("a redefinition whose body throws does not throw")
            } catch is Thrown {}
            try context.expectError(.schemaMismatch, "a redefinition that changes a type", table: "Note") {
                try store.redefine { writer in
                    try writer.upsert(["id": "b"] as Row, into: "Note")
                    return [.t(.int("n")), TableSchema("Note", columns: [.double("number")])]
                }
            }
            for number in 0..<3 {
                let opened = try number < 2 ? stores[number] : context.reopened(store)
                try context.expect(opened.tables(), is: [.notes], "the tables after redefinitions that failed")
                try context.expect(TableQuery("Note"), in: opened, finds: [])
            }
        },
        Check(
            "TAB-208",
            "No definition of another thread or store is lost between the body of a redefinition and its end",
            why: "Two processes that each add a column to the stored definition would hide the column of the other."
        ) { context in
            let stores = try openings(3, context)
            try stores[0].define([.notes])
            try context.onThreads(3, "stores that add columns at once") { thread in
                for step in 0..<5 {
                    try stores[thread].redefine { writer in
                        var schema = try writer.schema(of: "Note")
                        schema.columns.append(.int("c\(thread)x\(step)"))
                        return [schema]
                    }
                }
            }
            let names = (0..<3).flatMap { thread in (0..<5).map { "c\(thread)x\($0)" } }
            for store in stores {
                let found = Set(try store.tables().flatMap(\.columns).map(\.name))
                let lost = names.filter { !found.contains($0) }
                try context.expect(lost, is: [], "the columns that were added and are missing")
            }
        },
    ]

    /// Fails unless the index that a redefinition added finds the rows from before it and those of its body.
    private static func expectNumbers(in store: TracedStore, _ context: CheckContext) throws {
        let found: [(number: Value, ids: [RowID])] = [(1, ["a"]), (2, ["b"]), (3, ["d"]), (5, [])]
        for (number, ids) in found {
            let query = TableQuery("Note").filter(.column("number") == .literal(number))
            try context.expect(query, in: store, finds: ids, "the index that a redefinition added")
        }
    }

    /// Opens several stores over the same files. Where the files cannot be shared, all of them are one store.
    private static func openings(_ count: Int, _ context: CheckContext) throws -> [TracedStore] {
        let first = try context.open()
        let isShared = context.capabilities.isPersistent && context.capabilities.sharesFilesWithProcesses
        return try [first] + (1..<count).map { _ in try isShared ? context.open() : first }
    }
}
