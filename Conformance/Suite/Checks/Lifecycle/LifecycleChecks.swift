internal import TidelineStore

extension Check {
    /// Opening, closing, and files.
    static let lifecycle: [Check] = [
        storeOpening, storeReopening, storeClosing, usedHandles, sharedOpening, sharedChanges, exclusiveOpening,
        storeFiles,
        failedOpening, openingModes, idleStores, storeDestruction, lifecycleLocks, lifecycleSharing,
    ].flatMap { $0 }

    /// Stores of one process, each in its own folder.
    static let storeOpening: [Check] = [
        Check("LIF-001", "A store in an empty folder is empty and has no tables") { context in
            let store = try context.open()
            try context.expect(store.tables(), is: [], "the tables of a new store")
            try context.expect(store.appTables(), is: [], "the app's tables of a new store")
        },
        Check(
            "LIF-002", "Stores in different folders are independent, even if many are open at once",
            why: "Process-wide state, such as a cache of definitions, mixes them up."
        ) { context in
            let stores = try (0..<12).map { try context.open("store \($0)") }
            for (number, store) in stores.enumerated() {
                try store.define([.t(.int("a")), TableSchema("only\(number)", columns: [])])
                try store.put([["id": "1", "a": .int(Int64(number))]], into: "t")
            }
            for (number, store) in stores.enumerated() {
                try context.expect(store.tables().map(\.name), is: ["only\(number)", "t"], "tables of store \(number)")
                try context.expect(store.row(in: "t", "1")?["a"], is: .int(Int64(number)), "the row of store \(number)")
            }
        },
        Check("LIF-003", "Closing one store does not affect a store in another folder") { context in
            let first = try context.store(.notes, in: "first")
            let second = try context.store(.notes, holding: [["id": "1", "number": 2]], in: "second")
            try first.close()
            try context.expect(second.row(in: "Note", "1")?["number"], is: 2, "the row of the store that is open")
            try second.put([["id": "2"]], into: "Note")
            try context.expect(second.count(TableQuery("Note")), is: 2, "its rows")
        },
        Check("LIF-004", "Eight threads that each open, fill, and close a store in their own folders all succeed") {
            context in
            try context.onThreads(8, "opening and closing") { number in
                for round in 0..<3 {
                    let store = try context.store(.notes, in: "store \(number) \(round)")
                    try store.put([["id": "1", "number": .int(Int64(number))]], into: "Note")
                    let found = try store.row(in: "Note", "1")?["number"]
                    try context.expect(found, is: .int(Int64(number)), "the row of thread \(number)")
                    try store.close()
                }
            }
        },
        Check("LIF-005", "The declared capabilities are consistent and the same at each opening") { context in
            let store = try context.open()
            let declared = store.capabilities
            try context.expect(!declared.name.isEmpty, "the store has no name")
            try context.expect(!declared.isReadOnly, "a store opened for writing declares that it is read-only")
            try context.expect(
                declared.maximumIDLength >= 255,
                "ids of 255 characters are required, but only \(declared.maximumIDLength) declared")
            let isLasting = declared.isPersistent || declared.durability == .none
            try context.expect(isLasting, "durability \(declared.durability) of a store that is not persistent")
            try context.expect(
                declared.isPersistent || !declared.sharesFilesWithProcesses,
                "file sharing is declared by a store that is not persistent")
            try store.define([.notes])
            try store.put([["id": "1"]], into: "Note")
            try context.expect(store.capabilities, is: declared, "the capabilities after a write")
            try store.close()
            try context.expect(context.open().capabilities, is: declared, "the capabilities at the next opening")
        },
    ]

    /// Stores that are closed and reopened.
    static let storeReopening: [Check] = [
        Check(
            "LIF-010", "A reopened store has its rows if it declares persistence, and is empty otherwise"
        ) { context in
            try context.store(.items, holding: [["id": "1", "text": "Milk"]]).close()
            let again = try context.open()
            try context.expect(again.tables(), is: context.capabilities.isPersistent ? [.items] : [], "the tables")
            try again.define([.items])
            try context.expect(TableQuery("TodoItem"), in: again, finds: context.capabilities.isPersistent ? ["1"] : [])
        },
        Check(
            "LIF-011", "Changes, deletions, and rolled-back changes have the correct state after reopening",
            needs: [.persistence]
        ) { context in
            let store = try context.store(.notes)
            try store.put((0..<30).map { ["id": .string("\($0)"), "number": .int($0)] }, into: "Note")
            try store.put([["id": "3", "number": 300]], into: "Note")
            try store.delete(matching: TableQuery("Note").filter(.column("number") < 3))
            try store.rollBack { writer in
                try writer.upsert(["id": "never"], into: "Note")
                try writer.delete(ids: ["5"], from: "Note")
            }
            var rows: [Row] = (3..<30).map { ["id": .string("\($0)"), "number": .int($0)] }
            rows[0]["number"] = 300
            let reopened = try context.reopened(store)
            try context.expectAnswers([TableQuery("Note")], in: reopened, over: rows, of: .notes)
        },
        Check(
            "LIF-012", "A store and its indexes can grow over ten openings",
            why: "A counter kept only in memory restarts at each opening and overwrites stored data.",
            needs: [.persistence]
        ) { context in
            var rows: [Row] = []
            for opening in 0..<10 {
                let store = try context.store(.items)
                let added: [Row] = (0..<5).map {
                    ["id": .string("\(opening)-\($0)"), "priority": .int($0), "score": 0.5]
                }
                try store.put(added, into: "TodoItem")
                try store.delete(ids: [.string("\(opening)-4")], from: "TodoItem")
                rows += added.dropLast()
                try store.close()
            }
            let queries = TableQuery.about("priority", like: 2, in: "TodoItem")
            try context.expectAnswers(queries, in: context.open(), over: rows, of: .items)
        },
        Check(
            "LIF-013", "A store that was closed without a change, or before a table was defined, opens again",
            needs: [.persistence]
        ) { context in
            for _ in 0..<3 { try context.open().close() }
            let store = try context.store(.notes)
            try store.close()
            try context.expect(context.open().tables(), is: [.notes], "the tables")
        },
        Check("LIF-014", "The last write before closing is kept, without a read in between", needs: [.persistence]) {
            context in
            for number: Int64 in 1...5 {
                try context.store(.notes, holding: [["id": "1", "number": .int(number)]]).close()
                let again = try context.open()
                try context.expect(again.row(in: "Note", "1")?["number"], is: .int(number), "the row")
                try again.close()
            }
        },
    ]
}
