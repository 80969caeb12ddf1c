internal import Synchronization
internal import TidelineStore

extension Check {
    /// Closing a store, and calls on a closed store.
    static let storeClosing: [Check] = [
        Check("LIF-020", "Closing a store twice has no effect") { trial in
            let store = try trial.store(.notes)
            for _ in 0..<3 { try store.close() }
        },
        Check("LIF-021", "A read of a closed store throws closed, and its body is not called") { trial in
            let store = try closed(trial)
            try trial.expectError(.closed, "a read") {
                try store.read { _ in throw CheckFailure("the body of a read of a closed store was called") }
            }
        },
        Check("LIF-022", "A write to a closed store throws closed, and its body is not called") { trial in
            let store = try closed(trial)
            try trial.expectError(.closed, "a write") {
                try store.write { _ in throw CheckFailure("the body of a write to a closed store was called") }
            }
        },
        Check("LIF-023", "Defining tables in a closed store throws closed, whether or not there is a change") {
            trial in
            let store = try closed(trial)
            for tables: [TableSchema] in [[.notes], [.items], []] {
                try trial.expectError(.closed, "define of \(tables.map(\.name))") { try store.define(tables) }
            }
        },
        Check("LIF-024", "Reading the tables of a closed store throws closed") { trial in
            let store = try closed(trial)
            try trial.expectError(.closed, "tables()") { _ = try store.tables() }
            try trial.expectError(.closed, "appTables()") { _ = try store.appTables() }
        },
        Check(
            "LIF-025", "Closing waits for a write in flight, which commits",
            why: "A store that closes its files during a write loses the write or crashes."
        ) { trial in
            let store = try trial.store(.notes)
            try expectClosingWaits(
                trial, store,
                during: { work in
                    try store.write { writer in
                        try work {
                            for number in 0..<300 {
                                try writer.upsert(["id": .string("\(number)"), "number": 1], into: "Note")
                            }
                        }
                    }
                })
            guard trial.capabilities.isPersistent else { return }
            try trial.expect(try trial.open().count(Query("Note")), is: 300, "rows of the write that was in flight")
        },
        Check("LIF-026", "Closing waits for a read in flight, which still sees its rows") { trial in
            let store = try trial.store(.notes)
            try store.put((0..<100).map { ["id": .string("\($0)")] }, into: "Note")
            try expectClosingWaits(
                trial, store,
                during: { work in
                    try store.read { reader in
                        try work {
                            for _ in 0..<30 {
                                try trial.expect(
                                    try reader.allRows("Note").count, is: 100, "rows in the read in flight")
                            }
                        }
                    }
                })
        },
        Check("LIF-027", "When several threads close a store at once, all return and the store is closed") { trial in
            let store = try trial.store(.notes)
            try trial.onThreads(6, "closing") { number in
                if number.isMultiple(of: 2) { _ = try? store.read { try $0.count(Query("Note")) } }
                try store.close()
            }
            try trial.expectError(.closed, "a read") { try store.read { _ in } }
        },
        Check(
            "LIF-028",
            "Closing a store inside a read or write on the same thread throws busy and closes nothing",
            why: "Otherwise it would wait for itself forever or close the files in use by the body."
        ) { trial in
            let store = try trial.store(.notes)
            try store.read { reader in
                try trial.expectError(.busy, "closing inside a read") { try store.close() }
                try trial.expect(try reader.count(Query("Note")), is: 0, "rows in that read")
            }
            try store.write { writer in
                try trial.expectError(.busy, "closing inside a write") { try store.close() }
                try writer.upsert(["id": "1"], into: "Note")
            }
            try trial.expect(try store.count(Query("Note")), is: 1, "rows afterwards")
        },
        Check("LIF-029", "A body that throws while close() waits does not prevent the store from closing") {
            trial in
            struct Stop: Error {}
            let store = try trial.store(.notes)
            try expectClosingWaits(
                trial, store,
                during: { work in
                    do {
                        try store.write { writer in
                            try work { for _ in 0..<100 { try writer.upsert(["id": "1"], into: "Note") } }
                            throw Stop()
                        }
                    } catch is Stop {}
                })
            guard trial.capabilities.isPersistent else { return }
            try trial.expect(try trial.open().count(Query("Note")), is: 0, "rows of the write that was rolled back")
        },
    ]

    private static func closed(_ trial: Trial) throws -> TracedStore {
        let store = try trial.store(.notes)
        try store.put([["id": "1"]], into: "Note")
        try store.close()
        return store
    }

    /// Closes a store while another thread is inside a call.
    ///
    /// - Parameter call: Makes the call and passes it the work to be done before the store closes.
    private static func expectClosingWaits(
        _ trial: Trial, _ store: TracedStore,
        during call: @escaping @Sendable (_ work: (() throws -> Void) throws -> Void) throws -> Void
    ) throws {
        let isInside = Signal()
        let isClosing = Signal()
        let isClosed = Signal()
        let hasEnded = Atomic(false)
        let team = ThreadTeam(trial)
        team.start {
            try call { work in
                isInside.send()
                try isClosing.wait(trial, "the thread that closes the store did not start")
                try trial.expect(!isClosed.comesTooEarly(), "close() returned while a call was in flight")
                try work()
                hasEnded.store(true, ordering: .sequentiallyConsistent)
            }
        }
        try isInside.wait(trial, "the body of a call was not reached")
        isClosing.send()
        let outcome = Result { try store.close() }
        isClosed.send()
        let waited = hasEnded.load(ordering: .sequentiallyConsistent)
        try team.wait(for: "a call in flight while the store is closed")
        try outcome.get()
        try trial.expect(waited, "close() returned while a call was in flight")
    }
}
