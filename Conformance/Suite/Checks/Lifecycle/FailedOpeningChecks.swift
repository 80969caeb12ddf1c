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
            trial in
            let file = try trial.file("plain", "mine")
            try expectNoStore(trial, at: "\(file)/below", "a path through a file")
            try expectNoStore(trial, at: "\(file)/below/deeper", "a longer path through a file")
            try trial.expect(trial.content(of: file), is: "mine", "the file")
        },
        Check(
            "LIF-071", "A file in place of the store's folder is an error, and the file is unchanged",
            needs: [.persistence]
        ) {
            trial in
            for content in ["mine", "", "SQLite format 3\0"] {
                let file = try trial.file("plain", content)
                try expectNoStore(trial, at: file, "a file as the folder")
                try trial.expect(trial.content(of: file), is: content, "the file")
            }
        },
        Check(
            "LIF-072",
            "Folders in place of the store's files, and files in place of its folders, are preserved",
            why: "A store that removes obstacles removes files that it does not own.", needs: [.persistence]
        ) { trial in
            try trial.store(.notes, in: "model").close()
            let model = "\(trial.directory)/model"
            let blocked = try trial.folder("blocked")
            let names = trial.names(in: model)
            for name in names {
                var isFolder: ObjCBool = false
                _ = FileManager.default.fileExists(atPath: "\(model)/\(name)", isDirectory: &isFolder)
                if !isFolder.boolValue { _ = try trial.folder("blocked/\(name)") }
                try trial.file("blocked/\(name)\(isFolder.boolValue ? "" : "/mine")", "mine")
            }
            do {
                try trial.open("blocked").close()
            } catch let error as StoreError where failures.contains(error.code) {}
            for name in names {
                let path = "\(blocked)/\(name)"
                let isKept = trial.content(of: path) == "mine" || trial.content(of: "\(path)/mine") == "mine"
                try trial.expect(isKept, "\(name) was removed")
            }
        },
        Check(
            "LIF-073", "An unwritable folder is an error, not a store that keeps nothing",
            needs: [.persistence]
        ) { trial in
            try expectNoStore(trial, at: try unwritable(trial), "an unwritable folder")
        },
        Check(
            "LIF-074",
            "In a folder that does not exist, a store is created, or opening fails and leaves nothing behind",
            needs: [.persistence]
        ) { trial in
            let path = "\(trial.directory)/missing/deeper"
            do {
                let store = try trial.open(StoreOpening(directory: path), named: "missing/deeper")
                try store.define([.notes])
                try store.close()
            } catch let error as StoreError {
                try trial.expect(failures.contains(error.code), "the error should be io: \(error)")
                try trial.expect(trial.names(in: trial.directory), is: [], "the files that the opening left behind")
                try trial.store(.notes, in: "missing/deeper").close()
            }
            let store = try trial.open("missing/deeper")
            try trial.expect(try store.tables(), is: [.notes], "the tables of the store that was created")
        },
        Check("LIF-075", "Once an obstacle is removed, a store is created there as usual", needs: [.persistence]) {
            trial in
            let file = try trial.file("place", "mine")
            for _ in 0..<2 { try expectNoStore(trial, at: file, "a file as the folder") }
            do { try FileManager.default.removeItem(atPath: file) } catch { throw KitError("\(error)") }
            let store = try trial.store(.notes, in: "place")
            try store.put([["id": "1"]], into: "Note")
            try trial.expect(Query("Note"), in: try trial.reopened(store, in: "place"), finds: ["1"])
        },
        Check("LIF-076", "A failed opening does not disturb a store that is open", needs: [.persistence]) {
            trial in
            let store = try trial.store(.notes)
            let file = try trial.file("plain", "mine")
            for _ in 0..<3 { try expectNoStore(trial, at: "\(file)/below", "a path through a file") }
            try store.put([["id": "1"]], into: "Note")
            try trial.expect(Query("Note"), in: try trial.reopened(store), finds: ["1"])
        },
    ]

    /// The valid error codes for a location that cannot be used.
    private static let failures: Set<StoreError.Code> = [.io, .readOnly, .corrupt]

    private static func expectNoStore(_ trial: Trial, at path: String, _ what: String) throws {
        do {
            let store = try trial.open(StoreOpening(directory: path), named: path)
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
    private static func unwritable(_ trial: Trial) throws -> String {
        let folder = try trial.folder("forbidden")
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
        throw KitError("there is no folder that is unwritable for this user")
    }
}
