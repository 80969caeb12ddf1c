internal import TidelineStore

extension Check {
    /// Removing a store with all its files.
    static let storeDestruction: [Check] = [
        Check(
            "LIF-090", "Destroying a store removes all of its files, and a new store there is empty",
            needs: [.persistence, .destroying]
        ) {
            trial in
            let folder = try trial.folder("store")
            try fill(trial).close()
            try destroy(trial)
            try trial.expect(trial.names(in: folder), is: [], "the remaining files in the folder")
            let store = try trial.open()
            try trial.expect(try store.tables(), is: [], "the tables of the new store")
            try store.define([.notes])
            try trial.expect(try store.count(Query("Note")), is: 0, "the rows of the new store")
        },
        Check(
            "LIF-091", "Destroying an open store is refused with locked; the store still works, and its rows remain",
            why: "A store whose files were removed continues to acknowledge changes that are lost.",
            needs: [.persistence, .destroying]
        ) { trial in
            let store = try fill(trial)
            for attempt in 1...3 {
                try trial.expectError(.locked, "attempt \(attempt)") { try destroy(trial) }
                try store.put([["id": .string("\(attempt)")]], into: "Note")
            }
            try trial.expect(try store.count(Query("Note")), is: 203, "rows")
            let reopened = try trial.reopened(store)
            try trial.expect(try reopened.count(Query("Note")), is: 203, "rows after reopening")
            try reopened.close()
            try destroy(trial)
        },
        Check(
            "LIF-092", "Destroying a store within a read or write of it is refused with locked",
            needs: [.persistence, .destroying]
        ) {
            trial in
            let store = try fill(trial)
            try store.read { _ in
                _ = try trial.expectError(.locked, "during a read") { try destroy(trial) }
            }
            try store.write { writer in
                try writer.upsert(["id": "new"], into: "Note")
                try trial.expectError(.locked, "during a write") { try destroy(trial) }
            }
            try trial.expect(try store.count(Query("Note")), is: 201, "rows")
        },
        Check(
            "LIF-093", "Destroying a store that does not exist has no effect, also when repeated",
            needs: [.persistence, .destroying]
        ) {
            trial in
            let folder = try trial.folder("store")
            for _ in 0..<2 { try destroy(trial) }
            try trial.expect(trial.names(in: folder), is: [], "the files in the folder")
            try fill(trial).close()
            for _ in 0..<2 { try destroy(trial) }
            try trial.expect(trial.names(in: folder), is: [], "the remaining files in the folder")
        },
        Check(
            "LIF-094", "Destroying one store does not affect stores in other folders, open or closed",
            needs: [.persistence, .destroying]
        ) {
            trial in
            let open = try fill(trial, in: "store 2")
            try fill(trial, in: "stor").close()
            try fill(trial).close()
            try destroy(trial)
            try trial.expect(try open.count(Query("Note")), is: 200, "rows of the open store")
            try trial.expect(try trial.open("stor").count(Query("Note")), is: 200, "rows of the closed store")
        },
        Check(
            "LIF-095", "A store can be created, filled, and destroyed repeatedly without leaving files open",
            needs: [.persistence, .destroying]
        ) {
            trial in
            for _ in 0..<4 {
                let store = try fill(trial)
                try trial.expect(try store.count(Query("Note")), is: 200, "rows")
                try store.close()
                try destroy(trial)
            }
            let open = try OpenFiles.below(trial.directory)
            try trial.expect(open.isEmpty, "this process still has files open: \(open.joined(separator: ", "))")
        },
        Check(
            "LIF-096",
            "Destroying a store that another process has open is refused with locked until that process closes it",
            needs: [.persistence, .destroying, .process]
        ) { trial in
            try fill(trial).close()
            let opening = StoreOpening(directory: try trial.folder("store"))
            try trial.child([.open(opening), .wait, .close]) { child in
                try child.expect(ChildLine.waiting)
                for _ in 0..<2 { try trial.expectError(.locked, "destroying it") { try destroy(trial) } }
                child.proceed()
                let end = try child.finish()
                try trial.expect(end.isWell, "the process that had the store open fails: \(end)")
            }
            let store = try trial.open()
            try trial.expect(try store.count(Query("Note")), is: 200, "rows")
            try store.close()
            try destroy(trial)
            try trial.expect(trial.names(in: opening.directory), is: [], "the remaining files in the folder")
        },
    ]

    private static func fill(_ trial: Trial, in name: String = "store") throws -> TracedStore {
        let store = try trial.store(.notes, in: name)
        try store.put((0..<200).map { ["id": .string("row \($0)"), "text": "some text"] }, into: "Note")
        return store
    }

    private static func destroy(_ trial: Trial) throws { try trial.harness.destroy?(trial.folder("store")) }
}
