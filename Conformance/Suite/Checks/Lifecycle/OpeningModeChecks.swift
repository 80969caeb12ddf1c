internal import TidelineStore

extension Check {
    /// Opening existing stores only, or for reading only.
    static let openingModes: [Check] = [
        Check(
            "LIF-080", "Opening with access existing fails if there is no store, and creates none",
            why: "A mistyped path would open an empty store, and the app would pull everything again.",
            needs: [.persistence, .openingExisting]
        ) { trial in
            let folder = try trial.folder("store")
            for _ in 0..<2 {
                try trial.expectError(.io, "opening a store that does not exist") {
                    _ = try trial.open(access: .existing)
                }
                try trial.expect(trial.names(in: folder), is: [], "the files that the opening left in the folder")
            }
            try trial.expectError(.io, "opening in a folder that does not exist") {
                let missing = StoreOpening(directory: "\(trial.directory)/missing", access: .existing)
                _ = try trial.open(missing, named: "missing")
            }
            try trial.expect(trial.names(in: trial.directory), is: ["store"], "the folders afterwards")
        },
        Check(
            "LIF-081", "Opening with access existing opens an existing store for reading and writing",
            needs: [.persistence, .openingExisting]
        ) {
            trial in
            let store = try trial.store(.notes)
            try store.put([["id": "1"]], into: "Note")
            try store.close()
            let existing = try trial.open(access: .existing)
            try existing.put([["id": "2"]], into: "Note")
            try existing.define([.t()])
            try trial.expect(Query("Note"), in: try trial.reopened(existing), finds: ["1", "2"])
        },
        Check(
            "LIF-082", "A store opened for reading only declares it and reads everything",
            needs: [.persistence, .openingReadOnly]
        ) {
            trial in
            let store = try readOnly(trial)
            try trial.expect(store.capabilities.isReadOnly, "the store declares itself writable")
            try trial.expect(try store.tables(), is: [.notes], "the tables")
            try trial.expect(Query("Note").filter(.column("number") == 2), in: store, finds: ["2"])
            let row: Row = ["id": "1", "number": 1]
            try trial.expect(try store.row(in: "Note", "1"), is: row.completed(for: .notes), "a row")
        },
        Check(
            "LIF-083", "A store opened for reading only refuses every change with readOnly",
            needs: [.persistence, .openingReadOnly]
        ) {
            trial in
            let store = try readOnly(trial)
            try trial.expectError(.readOnly, "an upsert") { try store.put([["id": "3"]], into: "Note") }
            try trial.expectError(.readOnly, "a delete") {
                _ = try store.write { try $0.delete(ids: ["1"], from: "Note") }
            }
            try trial.expectError(.readOnly, "a new table") { try store.define([.t()]) }
            try trial.expect(Query("Note"), in: store, finds: ["1", "2"])
            try store.close()
            try trial.expect(Query("Note"), in: try trial.open(), finds: ["1", "2"])
        },
        Check(
            "LIF-084", "Opening for reading only fails if there is no store, and creates none",
            needs: [.persistence, .openingReadOnly]
        ) {
            trial in
            let folder = try trial.folder("store")
            try trial.expectError(.io, "opening a store that does not exist") { _ = try trial.open(access: .readOnly) }
            try trial.expect(trial.names(in: folder), is: [], "the files that the opening left in the folder")
        },
    ]

    private static func readOnly(_ trial: Trial) throws -> TracedStore {
        let store = try trial.store(.notes)
        try store.put([["id": "1", "number": 1], ["id": "2", "number": 2]], into: "Note")
        try store.close()
        return try trial.open(access: .readOnly)
    }
}
