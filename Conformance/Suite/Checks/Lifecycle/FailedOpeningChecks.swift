internal import Foundation
internal import TidelineStore

extension Check {
    /// Places where no store can be, and what is left there.
    static let failedOpening: [Check] = [
        Check(
            "LIF-070",
            "A path that leads through a file is an error: a StoreError of code io, and the file is as it was",
            needs: [.persistence]
        ) {
            trial in
            let file = try trial.file("plain", "mine")
            try expectNoStore(trial, at: "\(file)/below", "a path through a file")
            try expectNoStore(trial, at: "\(file)/below/deeper", "a longer path through a file")
            try trial.expect(trial.content(of: file), is: "mine", "the file")
        },
        Check(
            "LIF-071", "A file where the store's folder should be is an error, and the file is as it was",
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
            "Folders in the places of the store's files, and files in those of its folders, stay as they are",
            why: "A store that clears what is in its way removes what is not its own.", needs: [.persistence]
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
                try trial.expect(isKept, "what was called \(name) is not there any more")
            }
        },
        Check(
            "LIF-073", "A folder in which nothing can be made is an error, not a store that keeps nothing",
            needs: [.persistence]
        ) { trial in
            try expectNoStore(trial, at: try unwritable(trial), "a folder in which nothing can be made")
        },
        Check(
            "LIF-074", "In a folder that does not exist a store is made, or opening fails and leaves nothing there",
            needs: [.persistence]
        ) { trial in
            let path = "\(trial.directory)/missing/deeper"
            do {
                let store = try trial.open(StoreOpening(directory: path), named: "missing/deeper")
                try store.define([.notes])
                try store.close()
            } catch let error as StoreError {
                try trial.expect(failures.contains(error.code), "the error should be io: \(error)")
                try trial.expect(trial.names(in: trial.directory), is: [], "what the opening left behind")
                try trial.store(.notes, in: "missing/deeper").close()
            }
            let store = try trial.open("missing/deeper")
            try trial.expect(try store.tables(), is: [.notes], "the tables of the store that was made then")
        },
        Check("LIF-075", "Once what was in the way is gone, a store is made there as anywhere", needs: [.persistence]) {
            trial in
            let file = try trial.file("place", "mine")
            for _ in 0..<2 { try expectNoStore(trial, at: file, "a file as the folder") }
            do { try FileManager.default.removeItem(atPath: file) } catch { throw KitError("\(error)") }
            let store = try trial.store(.notes, in: "place")
            try store.put([["id": "1"]], into: "Note")
            try trial.expect(Query("Note"), in: try trial.reopened(store, in: "place"), finds: ["1"])
        },
        Check("LIF-076", "An opening that fails does not disturb a store that is open", needs: [.persistence]) {
            trial in
            let store = try trial.store(.notes)
            let file = try trial.file("plain", "mine")
            for _ in 0..<3 { try expectNoStore(trial, at: "\(file)/below", "a path through a file") }
            try store.put([["id": "1"]], into: "Note")
            try trial.expect(Query("Note"), in: try trial.reopened(store), finds: ["1"])
        },
    ]

    /// What a place that cannot be used may be called.
    private static let failures: Set<StoreError.Code> = [.io, .readOnly, .corrupt]

    private static func expectNoStore(_ trial: Trial, at path: String, _ what: String) throws {
        do {
            let store = try trial.open(StoreOpening(directory: path), named: path)
            try store.close()
        } catch let error as StoreError {
            guard failures.contains(error.code) else { throw CheckFailure("\(what): the error should be io: \(error)") }
            return
        } catch {
            throw CheckFailure("\(what): expected a StoreError, thrown was \(type(of: error)): \(error)")
        }
        throw CheckFailure("\(what): the store opens, nothing is thrown")
    }

    /// A folder in which this process can make nothing; permissions do not keep the superuser, so for it one that the
    /// system makes.
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
        throw KitError("there is no folder that this user cannot write to")
    }
}
