internal import Foundation
internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// Process termination, power loss, and failing or damaged files.
    static let durability: [Check] = [
        durabilityCopies, durabilityPower, durabilityCrashes, durabilityErrors, durabilityOpening, durabilityFull,
        durabilityReadOnly, durabilityKilledWriters, durabilityKilledChanges, durabilityDamage,
    ].flatMap { $0 }

    /// The content of the files while the store is open, as it would be after a crash. No second process is required.
    static let durabilityCopies: [Check] = [
        Check(
            "DUR-301", "A commit is in the files when it is acknowledged, not only when the store is closed",
            why: "The files are copied while the store is open. Commits in a buffer, or on another thread, are lost."
        ) { context in
            let store = try context.store(.items, .notes)
            for number in 1...5 {
                try store.write { writer in
                    try writer.upsert(["id": .string("\(number)"), "text": "x"], into: "TodoItem")
                    try writer.upsert(["id": .string("\(number)"), "number": .int(Int64(number))], into: "Note")
                }
                let copy = try context.openCopy("copy\(number)")
                let ids = (1...number).map { RowID.string("\($0)") }
                try context.expect(TableQuery("TodoItem"), in: copy, finds: ids, "the copy after commit \(number)")
                try context.expect(TableQuery("Note"), in: copy, finds: ids, "the copy after commit \(number)")
                try copy.close()
            }
        },
        Check(
            "DUR-302", "A deletion is in the files when it is acknowledged",
            why: "A deferred deletion restores the row after the process has died."
        ) { context in
            let store = try context.store(.items, holding: [["id": "1"], ["id": "2"], ["id": "3"]])
            try store.delete(ids: ["1"], from: "TodoItem")
            try store.delete(matching: TableQuery("TodoItem", predicate: .column("id") == "3"))
            try context.expect(TableQuery("TodoItem"), in: context.openCopy("copy"), finds: ["2"], "the copy")
        },
        Check(
            "DUR-303", "A definition is in the files when it is acknowledged",
            why: "Rows of a table whose definition is written later cannot be read after a crash."
        ) { context in
            let store = try context.store(.items)
            try store.define([.notes])
            let copy = try context.openCopy("copy")
            try context.expect(copy.tables().map(\.name), is: ["Note", "TodoItem"], "the tables of the copy")
        },
        Check(
            "DUR-304", "Uncommitted changes are not in the files as committed",
            why: "The files are copied during a write. Rows written before the commit must be undone after a crash."
        ) { context in
            let store = try context.store(.items, .notes)
            try store.put(["id": "1"], into: "TodoItem")
            try store.write { writer in
                try writer.upsert((2...400).map { ["id": .string("\($0)"), "text": "open"] }, into: "TodoItem")
                try writer.upsert(["id": "1"], into: "Note")
                try context.copyFiles(to: "copy")
            }
            let copy = try context.open("copy")
            try context.expect(TableQuery("TodoItem"), in: copy, finds: ["1"], "the copy")
            try context.expect(TableQuery("Note"), in: copy, finds: [], "the copy")
        },
        Check(
            "DUR-305", "Rolled-back changes are not in the files",
            why: "A store that undoes changes only in memory restores them when it is reopened."
        ) { context in
            let store = try context.store(.items, .notes)
            try store.put(["id": "1", "text": "kept"], into: "TodoItem")
            try store.rollBack { writer in
                try writer.upsert([["id": "1", "text": "undone"], ["id": "2"]], into: "TodoItem")
                try writer.upsert(["id": "1"], into: "Note")
            }
            let copy = try context.openCopy("copy")
            let expected: Row = ["id": "1", "text": "kept"]
            try context.expect(copy.allRows("TodoItem"), are: [expected.completed(for: .items)], "the copy")
            try context.expect(TableQuery("Note"), in: copy, finds: [], "the copy")
            try store.close()
            let reopened = try context.open()
            try context.expect(TableQuery("TodoItem"), in: reopened, finds: ["1"], "the reopened store")
            try context.expect(TableQuery("Note"), in: reopened, finds: [], "the reopened store")
        },
    ].needing(.survivingDeath, .files)
}

extension CheckContext {
    /// Copies the current files of the store in the folder `store`.
    fileprivate func copyFiles(to name: String) throws {
        do {
            try FileManager.default.copyItem(atPath: folder("store"), toPath: "\(directory)/\(name)")
        } catch let error as HarnessError {
            throw error
        } catch {
            throw HarnessError("cannot copy the store's files: \(error.reason)")
        }
    }

    /// Opens a copy of the files of the store in the folder `store`, which stays open.
    fileprivate func openCopy(_ name: String) throws -> TracedStore {
        try copyFiles(to: name)
        return try open(name)
    }
}
