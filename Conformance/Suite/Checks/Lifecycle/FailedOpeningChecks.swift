internal import Foundation
internal import TidelineStore

extension Check {
    /// Locations where a store cannot be created, and their state after a failed opening.
    static let failedOpening: [Check] = [
        Check(
            "LIF-070",
            "A path through a regular file is a StoreError with code io, and the file is unchanged",
            needs: [.persistence]
        ) {
            context in
            let file = try context.file("plain", "mine")
            try expectNoStore(context, at: "\(file)/below", "a path through a file")
            try expectNoStore(context, at: "\(file)/below/deeper", "a longer path through a file")
            try context.expect(context.content(of: file), is: "mine", "the file")
        },
        Check(
            "LIF-071", "A file in place of the store's folder is an error, and the file is unchanged",
            needs: [.persistence]
        ) {
            context in
            for content in ["mine", "", "SQLite format 3\0"] {
                let file = try context.file("plain", content)
                try expectNoStore(context, at: file, "a file as the folder")
                try context.expect(context.content(of: file), is: content, "the file")
            }
        },
        Check(
            "LIF-072",
            "Folders in place of the store's files, and files in place of its folders, are preserved",
            why: "A store that removes obstacles removes files that it does not own.", needs: [.persistence]
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
            } catch let error as StoreError where failures.contains(error.code) {}
            for name in names {
                let path = "\(blocked)/\(name)"
                let isKept = context.content(of: path) == "mine" || context.content(of: "\(path)/mine") == "mine"
                try context.expect(isKept, "\(name) was removed")
            }
        },
        Check(
            "LIF-073", "An unwritable folder is an error, not a store that keeps nothing",
            needs: [.persistence]
        ) { context in
            try expectNoStore(context, at: try unwritable(context), "an unwritable folder")
        },
        Check(
            "LIF-074",
            "In a folder that does not exist, a store is created, or opening fails and leaves nothing behind",
            needs: [.persistence]
        ) { context in
            let path = "\(context.directory)/missing/deeper"
            do {
                let store = try context.open(StoreOpening(directory: path), named: "missing/deeper")
                try store.define([.notes])
                try store.close()
            } catch let error as StoreError {
                try context.expect(failures.contains(error.code), "the error should be io: \(error)")
                try context.expect(
                    context.names(in: context.directory), is: [], "the files that the opening left behind")
                try context.store(.notes, in: "missing/deeper").close()
            }
            let store = try context.open("missing/deeper")
            try context.expect(try store.tables(), is: [.notes], "the tables of the store that was created")
        },
        Check("LIF-075", "Once an obstacle is removed, a store is created there as usual", needs: [.persistence]) {
            context in
            let file = try context.file("place", "mine")
            for _ in 0..<2 { try expectNoStore(context, at: file, "a file as the folder") }
            do { try FileManager.default.removeItem(atPath: file) } catch { throw HarnessError("\(error)") }
            let store = try context.store(.notes, in: "place")
            try store.put([["id": "1"]], into: "Note")
            try context.expect(Query("Note"), in: try context.reopened(store, in: "place"), finds: ["1"])
        },
        Check("LIF-076", "A failed opening does not disturb a store that is open", needs: [.persistence]) {
            context in
            let store = try context.store(.notes)
            let file = try context.file("plain", "mine")
            for _ in 0..<3 { try expectNoStore(context, at: "\(file)/below", "a path through a file") }
            try store.put([["id": "1"]], into: "Note")
            try context.expect(Query("Note"), in: try context.reopened(store), finds: ["1"])
        },
    ]

    /// The valid error codes for a location that cannot be used.
    private static let failures: Set<StoreError.Code> = [.io, .readOnly, .corrupt]

    private static func expectNoStore(_ context: CheckContext, at path: String, _ what: String) throws {
        do {
            let store = try context.open(StoreOpening(directory: path), named: path)
            try store.close()
        } catch let error as StoreError {
            guard failures.contains(error.code) else { throw CheckFailure("\(what): the error should be io: \(error)") }
            return
        } catch {
            throw CheckFailure("\(what): expected a StoreError, but got \(type(of: error)): \(error)")
        }
        throw CheckFailure("\(what): expected an error, but the store opened")
    }

    /// Returns a folder in which this process cannot create files. Permissions do not restrict the superuser, so for it
    /// a system folder is used.
    private static func unwritable(_ context: CheckContext) throws -> String {
        let folder = try context.folder("forbidden")
        try? FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder)
        let candidates = [folder, "/proc/self/task", "/dev/fd"]
        for candidate in candidates where FileManager.default.fileExists(atPath: candidate) {
            let probe = "\(candidate)/tideline-probe"
            if FileManager.default.createFile(atPath: probe, contents: nil) {
                try? FileManager.default.removeItem(atPath: probe)
            } else {
                return candidate
            }
        }
        throw HarnessError("there is no folder that is unwritable for this user")
    }
}
