internal import TidelineStore

extension Check {
    /// Removing a store with all its files.
    static let storeDestruction: [Check] = [
        Check("LIF-090", "Destroying a store removes all of its files, and a new store there is empty") { context in
            let folder = try context.folder("store")
            try fill(context).close()
            try destroy(context)
            try context.expect(context.names(in: folder), is: [], "the remaining files in the folder")
            let store = try context.open()
            try context.expect(store.tables(), is: [], "the tables of the new store")
            try store.define([.notes])
            try context.expect(store.count(TableQuery("Note")), is: 0, "the rows of the new store")
        },
        Check(
            "LIF-091", "Destroying an open store is refused with locked; the store still works, and its rows remain",
            why: "A store whose files were removed continues to acknowledge changes that are lost."
        ) { context in
            let store = try fill(context)
            for attempt in 1...3 {
                try context.expectError(.locked, "attempt \(attempt)") { try destroy(context) }
                try store.put([["id": .string("\(attempt)")]], into: "Note")
            }
            try context.expect(store.count(TableQuery("Note")), is: 203, "rows")
            let reopened = try context.reopened(store)
            try context.expect(reopened.count(TableQuery("Note")), is: 203, "rows after reopening")
            try reopened.close()
            try destroy(context)
        },
        Check("LIF-092", "Destroying a store within a read or write of it is refused with locked") { context in
            let store = try fill(context)
            try store.read { _ in
                _ = try context.expectError(.locked, "during a read") { try destroy(context) }
            }
            try store.write { writer in
                try writer.upsert(["id": "new"], into: "Note")
                try context.expectError(.locked, "during a write") { try destroy(context) }
            }
            try context.expect(store.count(TableQuery("Note")), is: 201, "rows")
        },
        Check("LIF-093", "Destroying a store that does not exist has no effect, also when repeated") { context in
            let folder = try context.folder("store")
            for _ in 0..<2 { try destroy(context) }
            try context.expect(context.names(in: folder), is: [], "the files in the folder")
            try fill(context).close()
            for _ in 0..<2 { try destroy(context) }
            try context.expect(context.names(in: folder), is: [], "the remaining files in the folder")
        },
        Check("LIF-094", "Destroying one store does not affect stores in other folders, open or closed") { context in
            let open = try fill(context, in: "store 2")
            try fill(context, in: "stor").close()
            try fill(context).close()
            try destroy(context)
            try context.expect(open.count(TableQuery("Note")), is: 200, "rows of the open store")
            try context.expect(context.open("stor").count(TableQuery("Note")), is: 200, "rows of the closed store")
        },
        Check("LIF-095", "A store can be created, filled, and destroyed repeatedly without leaving files open") {
            context in
            for _ in 0..<4 {
                let store = try fill(context)
                try context.expect(store.count(TableQuery("Note")), is: 200, "rows")
                try store.close()
                try destroy(context)
            }
            let open = try OpenFiles.below(context.directory)
            try context.expect(open.isEmpty, "this process still has files open: \(open.joined(separator: ", "))")
        },
        Check(
            "LIF-096",
            "Destroying a store that another process has open is refused with locked until that process closes it",
            needs: [.process]
        ) { context in
            try fill(context).close()
            let opening = StoreOpening(directory: try context.folder("store"))
            try context.child([.open(opening), .wait, .close]) { child in
                try child.expect(ChildLine.waiting)
                for _ in 0..<2 { try context.expectError(.locked, "destroying it") { try destroy(context) } }
                child.proceed()
                try context.finish(child, "the process that had the store open")
            }
            let store = try context.open()
            try context.expect(store.count(TableQuery("Note")), is: 200, "rows")
            try store.close()
            try destroy(context)
            try context.expect(context.names(in: opening.directory), is: [], "the remaining files in the folder")
        },
    ].needing(.persistence, .destroying)

    private static func fill(_ context: CheckContext, in name: String = "store") throws -> TracedStore {
        let store = try context.store(.notes, in: name)
        try store.put((0..<200).map { ["id": .string("row \($0)"), "text": "some text"] }, into: "Note")
        return store
    }

    private static func destroy(_ context: CheckContext) throws {
        try context.harness.destroy?(context.folder("store"))
    }
}
