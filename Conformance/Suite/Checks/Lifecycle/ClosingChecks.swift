internal import Synchronization
internal import TidelineStore

extension Check {
    /// Closing a store, and calls on a closed store.
    static let storeClosing: [Check] = [
        Check("LIF-020", "Closing a store twice has no effect") { context in
            let store = try context.store(.notes)
            for _ in 0..<3 { try store.close() }
        },
        Check("LIF-021", "A read of a closed store throws closed, and its body is not called") { context in
            let store = try closed(context)
            try context.expectError(.closed, "a read") {
                try store.read { _ in throw CheckFailure("the body of a read of a closed store was called") }
            }
        },
        Check("LIF-022", "A write to a closed store throws closed, and its body is not called") { context in
            let store = try closed(context)
            try context.expectError(.closed, "a write") {
                try store.write { _ in throw CheckFailure("the body of a write to a closed store was called") }
            }
        },
        Check("LIF-023", "Defining tables in a closed store throws closed, whether or not there is a change") {
            context in
            let store = try closed(context)
            for tables: [TableSchema] in [[.notes], [.items], []] {
                try context.expectError(.closed, "define of \(tables.map(\.name))") { try store.define(tables) }
            }
        },
        Check("LIF-024", "Reading the tables of a closed store throws closed") { context in
            let store = try closed(context)
            try context.expectError(.closed, "tables()") { _ = try store.tables() }
            try context.expectError(.closed, "appTables()") { _ = try store.appTables() }
        },
        Check(
            "LIF-025", "Closing waits for a write in flight, which commits",
            why: "A store that closes its files during a write loses the write or crashes."
        ) { context in
            let store = try context.store(.notes)
            try expectClosingWaits(context, store) { work in
                try store.write { writer in
                    try work {
                        for number in 0..<300 {
                            try writer.upsert(["id": .string("\(number)"), "number": 1], into: "Note")
                        }
                    }
                }
            }
            guard context.capabilities.isPersistent else { return }
            try context.expect(context.open().count(TableQuery("Note")), is: 300, "rows of the write in flight")
        },
        Check("LIF-026", "Closing waits for a read in flight, which still sees its rows") { context in
            let store = try context.store(.notes, holding: (0..<100).map { ["id": .string("\($0)")] })
            try expectClosingWaits(context, store) { work in
                try store.read { reader in
                    try work {
                        for _ in 0..<30 {
                            try context.expect(reader.allRows("Note").count, is: 100, "rows in the read in flight")
                        }
                    }
                }
            }
        },
        Check("LIF-027", "When several threads close a store at once, all return and the store is closed") { context in
            let store = try context.store(.notes)
            try context.onThreads(6, "closing") { number in
                if number.isMultiple(of: 2) { _ = try? store.count(TableQuery("Note")) }
                try store.close()
            }
            try context.expectError(.closed, "a read") { try store.read { _ in } }
        },
        Check(
            "LIF-028",
            "Closing a store inside a read or write on the same thread throws busy and closes nothing",
            why: "Otherwise it would wait for itself forever or close the files in use by the body."
        ) { context in
            let store = try context.store(.notes)
            try store.read { reader in
                try context.expectError(.busy, "closing inside a read") { try store.close() }
                try context.expect(reader.count(TableQuery("Note")), is: 0, "rows in that read")
            }
            try store.write { writer in
                try context.expectError(.busy, "closing inside a write") { try store.close() }
                try writer.upsert(["id": "1"], into: "Note")
            }
            try context.expect(store.count(TableQuery("Note")), is: 1, "rows afterwards")
        },
        Check("LIF-029", "A body that throws while close() waits does not prevent the store from closing") { context in
            let store = try context.store(.notes)
            try expectClosingWaits(context, store) { work in
                try store.rollBack { writer in
                    try work { for _ in 0..<100 { try writer.upsert(["id": "1"], into: "Note") } }
                }
            }
            guard context.capabilities.isPersistent else { return }
            try context.expect(context.open().count(TableQuery("Note")), is: 0, "rows of a rolled-back write")
        },
    ]

    private static func closed(_ context: CheckContext) throws -> TracedStore {
        let store = try context.store(.notes, holding: [["id": "1"]])
        try store.close()
        return store
    }

    /// Closes a store while another thread is inside `call`, which receives the work to do before the store closes.
    private static func expectClosingWaits(
        _ context: CheckContext, _ store: TracedStore,
        during call: @escaping @Sendable (_ work: (() throws -> Void) throws -> Void) throws -> Void
    ) throws {
        let isInside = Signal()
        let isClosing = Signal()
        let isClosed = Signal()
        let hasEnded = Atomic(false)
        let team = ThreadTeam(context)
        team.start {
            try call { work in
                isInside.send()
                try isClosing.wait(context, "the thread that closes the store did not start")
                try context.expect(
                    !isClosed.comesTooEarly(after: isClosing, context), "close() returned while a call was in flight")
                try work()
                hasEnded.store(true, ordering: .sequentiallyConsistent)
            }
        }
        try isInside.wait(context, "the body of a call was not reached")
        isClosing.send()
        let outcome = Result { try store.close() }
        isClosed.send()
        let waited = hasEnded.load(ordering: .sequentiallyConsistent)
        try team.wait(for: "a call in flight while the store is closed")
        try outcome.get()
        try context.expect(waited, "close() returned while a call was in flight")
    }
}
