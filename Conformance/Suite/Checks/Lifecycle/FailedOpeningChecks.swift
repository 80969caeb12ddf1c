internal import Foundation
internal import TidelineStore

extension Check {
    /// Locations where a store cannot be created, and their state after a failed opening.
    static let failedOpening: [Check] = [
        Check(
            "LIF-070",
            "A path through a regular file is a StoreError with code io, and the file is unchanged", needs: [.files]
        ) { context in
            let file = try context.file("plain", "mine")
            try expectNoStore(context, at: "\(file)/below", "a path through a file")
            try expectNoStore(context, at: "\(file)/below/deeper", "a longer path through a file")
            try context.expect(context.content(of: file), is: "mine", "the file")
        },
        Check(
            "LIF-071", "A file in place of the store's folder is an error with code io, and the file is unchanged",
            needs: [.files]
        ) { context in
            for content in ["mine", "", "SQLite format 3\0"] {
                let file = try context.file("plain", content)
                try expectNoStore(context, at: file, "a file as the folder")
                try context.expect(context.content(of: file), is: content, "the file")
            }
        },
        Check(
            "LIF-072",
            "Folders in place of the store's files, and files in place of its folders, are preserved; an error has code io",
            why: "A store that removes obstacles removes files that it does not own.", needs: [.files]
        ) { context in
            try context.store(.notes, in: "model").close()
            let model = "\(context.directory)/model"
            let blocked = try context.folder("blocked")
            let names = context.names(in: model)
            for name in names {
                var isFolder: ObjCBool = false
                _ = FileManager.default.fileExists(atPath: "\(model)/\(name)", isDirectory: &isFolder)
                if !isFolder.boolValue { _ = try context.folder("blocked/\(name)") }
                try context.file("blocked/\(name)\(isFolder.boolValue ? "" : "/mine")", "mine")
            }
            do {
                try context.open("blocked").close()
            } catch let error as StoreError {
                try context.expect(error.code == .io, "the error should be io: \(error)")
            }
            for name in names {
                let path = "\(blocked)/\(name)"
                let isKept = context.content(of: path) == "mine" || context.content(of: "\(path)/mine") == "mine"
                try context.expect(isKept, "\(name) was removed")
            }
        },
        Check(
            "LIF-073", "Without permission to write to the folder, no store is created there: code readOnly",
            why: "A store that opens anyway keeps nothing.", needs: [.files]
        ) { context in
            let folder = try context.folder("forbidden")
            try Permissions.deny(.writing, below: folder) {
                try expectNoStore(context, at: folder, "an unwritable folder", .readOnly)
            }
            try context.expect(context.names(in: folder), is: [], "the files that the opening left behind")
        },
        Check(
            "LIF-074",
            "In a missing folder, a store is created, or opening fails with code io and leaves nothing behind"
        ) { context in
            let path = "\(context.directory)/missing/deeper"
            do {
                let store = try context.open(StoreOpening(directory: path), named: "missing/deeper")
                try store.define([.notes])
                try store.close()
            } catch let error as StoreError {
                try context.expect(error.code == .io, "the error should be io: \(error)")
                try context.expect(context.names(in: context.directory), is: [], "the files that the opening left")
                try context.store(.notes, in: "missing/deeper").close()
            }
            let store = try context.open("missing/deeper")
            try context.expect(store.tables(), is: [.notes], "the tables of the store that was created")
        },
        Check("LIF-075", "Once an obstacle is removed, a store is created there as usual", needs: [.files]) { context in
            let file = try context.file("place", "mine")
            for _ in 0..<2 { try expectNoStore(context, at: file, "a file as the folder") }
            do { try FileManager.default.removeItem(atPath: file) } catch { throw HarnessError("\(error)") }
            let store = try context.store(.notes, holding: [["id": "1"]], in: "place")
            try context.expect(TableQuery("Note"), in: context.reopened(store), finds: ["1"])
        },
        Check("LIF-076", "A failed opening does not disturb a store that is open", needs: [.files]) { context in
            let store = try context.store(.notes)
            let file = try context.file("plain", "mine")
            for _ in 0..<3 { try expectNoStore(context, at: "\(file)/below", "a path through a file") }
            try store.put([["id": "1"]], into: "Note")
            try context.expect(TableQuery("Note"), in: context.reopened(store), finds: ["1"])
        },
        Check(
            "LIF-077", "Without permission to write to its files and folder, a store cannot be changed: code readOnly",
            why: "The app can open the store for reading only, or request the permission.", needs: [.files]
        ) { context in
            let folder = try filled(context)
            try Permissions.deny(.writing, below: folder) {
                try context.expectError(.readOnly, "opening it and writing to it") {
                    let store = try context.open()
                    defer { try? store.close() }
                    try store.put([["id": "2"]], into: "Note")
                }
            }
            try context.expect(TableQuery("Note"), in: context.open(), finds: ["1"])
        },
        Check(
            "LIF-078", "Without permission to read its files or its folder, a store cannot be opened: code io",
            why: "The content may be intact: an app that treats the error as damage would delete it.", needs: [.files]
        ) { context in
            let folder = try filled(context)
            for access in [Permissions.Access.files, .everything] {
                try Permissions.deny(access, below: folder) {
                    try context.expectError(.io, "opening it") { _ = try context.open() }
                }
            }
            try context.expect(TableQuery("Note"), in: context.open(), finds: ["1"])
        },
        Check(
            "LIF-085", "Another program's files in place of the store's files are notAStore, and are unchanged",
            why: "After `corrupt` an app may delete the files. It is for files that identify themselves as a store.",
            needs: [.files]
        ) { context in
            try expectForeign(
                context, "This is a letter, not a store. " + String(repeating: "And so on. ", count: 2_000))
        },
        Check(
            "LIF-086", "Empty files where a store must exist are notAStore, and are unchanged",
            needs: [.openingExisting, .files]
        ) { context in try expectForeign(context, "", access: .existing) },
    ].needing(.persistence)

    private static func expectNoStore(
        _ context: CheckContext, at path: String, _ what: String, _ code: StoreError.Code = .io
    ) throws {
        try context.expectError(code, what) {
            try context.open(StoreOpening(directory: path), named: path).close()
        }
    }

    /// Fails unless files with this content in place of a store's files are refused with `notAStore` and unchanged.
    private static func expectForeign(
        _ context: CheckContext, _ content: String, access: StoreOpening.Access = .readWrite
    ) throws {
        let folder = try filled(context)
        let files = try context.replaceFiles(below: folder, by: content)
        try context.expectError(.notAStore, "opening it") { _ = try context.open(access: access) }
        for path in files { try context.expect(context.content(of: path), is: content, "the file \(path)") }
        let left = Permissions.contents(of: folder).files
        try context.expect(left.sorted(), is: files.sorted(), "the files after the opening failed")
        try context.expect(OpenFiles.below(folder), is: [], "the open files after the opening failed")
    }

    /// Returns the folder of a closed store with one row.
    private static func filled(_ context: CheckContext) throws -> String {
        let store = try context.store(.notes, holding: [["id": "1"]])
        try store.close()
        return try context.folder("store")
    }
}
