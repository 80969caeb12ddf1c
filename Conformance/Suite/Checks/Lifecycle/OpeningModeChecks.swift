internal import TidelineLive
internal import TidelineStore

extension Check {
    /// Opening existing stores only, or for reading only.
    static let openingModes: [Check] = [
        Check(
            "LIF-080", "Opening with access existing fails if there is no store, and creates none",
            why: "A mistyped path would open an empty store, and the app would pull everything again.",
            needs: [.persistence, .openingExisting]
        ) { context in
            let folder = try context.folder("store")
            for _ in 0..<2 {
                try context.expectError(.io, "opening a store that does not exist") {
                    _ = try context.open(access: .existing)
                }
                try context.expect(context.names(in: folder), is: [], "the files that the opening left in the folder")
            }
            try context.expectError(.io, "opening in a folder that does not exist") {
                let missing = StoreOpening(directory: "\(context.directory)/missing", access: .existing)
                _ = try context.open(missing, named: "missing")
            }
            try context.expect(context.names(in: context.directory), is: ["store"], "the folders afterwards")
        },
        Check(
            "LIF-081", "Opening with access existing opens an existing store for reading and writing",
            needs: [.persistence, .openingExisting]
        ) { context in
            try context.store(.notes, holding: [["id": "1"]]).close()
            let existing = try context.open(access: .existing)
            try existing.put([["id": "2"]], into: "Note")
            try existing.define([.t()])
            try context.expect(TableQuery("Note"), in: context.reopened(existing), finds: ["1", "2"])
        },
        Check(
            "LIF-082", "A store opened for reading only declares it and reads everything",
            needs: [.persistence, .openingReadOnly]
        ) { context in
            let store = try readOnly(context)
            try context.expect(store.capabilities.isReadOnly, "the store declares itself writable")
            try context.expect(store.tables(), is: [.notes], "the tables")
            try context.expect(TableQuery("Note").filter(.column("number") == 2), in: store, finds: ["2"])
            let row: Row = ["id": "1", "number": 1]
            try context.expect(store.row(in: "Note", "1"), is: row.completed(for: .notes), "a row")
        },
        Check(
            "LIF-083", "A store opened for reading only refuses every change with readOnly",
            needs: [.persistence, .openingReadOnly]
        ) { context in
            let store = try readOnly(context)
            try context.expectError(.readOnly, "an upsert") { try store.put([["id": "3"]], into: "Note") }
            try context.expectError(.readOnly, "a delete") { try store.delete(ids: ["1"], from: "Note") }
            try context.expectError(.readOnly, "a new table") { try store.define([.t()]) }
            try context.expect(TableQuery("Note"), in: store, finds: ["1", "2"])
            try store.close()
            try context.expect(TableQuery("Note"), in: context.open(), finds: ["1", "2"])
        },
        Check(
            "LIF-084", "Opening for reading only fails if there is no store, and creates none",
            needs: [.persistence, .openingReadOnly]
        ) { context in
            let folder = try context.folder("store")
            try context.expectError(.io, "opening a store that does not exist") {
                _ = try context.open(access: .readOnly)
            }
            try context.expect(context.names(in: folder), is: [], "the files that the opening left in the folder")
        },
    ]

    /// Stores that are not used for a long time.
    static let idleStores: [Check] = [
        Check(
            "LIF-089", "A store that was idle for a minute, an hour, or a month still reads, writes, and observes",
            why: "A phone sleeps for days. Connections, locks, and caches that end when idle must be made again.",
            needs: [.clock]
        ) { context in
            let store = try context.store(.notes, holding: [["id": "a", "number": 1]])
            let observed = ObservedStore(store)
            var notes = try ObservedQuery(TableQuery("Note"), in: observed)
            let pause = { (duration: Duration) in context.harness.letTimePass?(duration) }
            for (number, duration) in [Duration.seconds(60), .seconds(3_600), .seconds(30 * 86_400)].enumerated() {
                pause(duration)
                try context.expect(store.count(TableQuery("Note")), is: number + 1, "the notes after \(duration)")
                pause(duration)
                try observed.put([["id": .string("after \(number)")]], into: "Note")
                try store.read { reader in
                    pause(duration)
                    try context.expect(
                        reader.count(TableQuery("Note")), is: number + 2, "the count of a read of \(duration)")
                }
                try observed.write { writer in
                    pause(duration)
                    try writer.upsert(["id": "a", "number": .int(Int64(number))], into: "Note")
                }
                try notes.expectCurrent(in: observed, context, "after \(duration)")
                pause(duration)
                try store.define([.notes, TableSchema("T\(number)", columns: [])])
            }
            try context.expect(context.reopened(store).count(TableQuery("Note")), is: 4, "the notes at the end")
        }
    ]

    private static func readOnly(_ context: CheckContext) throws -> TracedStore {
        try context.store(.notes, holding: [["id": "1", "number": 1], ["id": "2", "number": 2]]).close()
        return try context.open(access: .readOnly)
    }
}
