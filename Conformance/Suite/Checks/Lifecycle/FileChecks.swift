internal import Foundation
internal import TidelineStore

extension Check {
    /// A store's files: their location, their names, and their release.
    static let storeFiles: [Check] = [
        Check(
            "LIF-060", "A closed store has released every file: no handles or maps remain open",
            why: "An open handle prevents the removal of files and exhausts the process's descriptors.",
            needs: [.persistence]
        ) { trial in
            for opening in 1...3 {
                let store = try trial.store(.items)
                try store.put([["id": "1"]], into: "TodoItem")
                _ = try store.read { try $0.allRows("TodoItem") }
                try store.close()
                try expectNothingOpen(trial, "after opening \(opening) was closed")
            }
        },
        Check(
            "LIF-061", "A store that was read by several threads at once releases every file when closed",
            needs: [.persistence]
        ) {
            trial in
            let store = try trial.store(.notes)
            try store.put((0..<50).map { ["id": .string("\($0)")] }, into: "Note")
            try trial.onThreads(6, "reading") { number in
                for _ in 0..<5 { _ = try store.read { try $0.allRows("Note") } }
                if number == 0 { try store.put([["id": "new"]], into: "Note") }
            }
            try store.read { reader in
                _ = try reader.scan(Query("Note")) { _ in .stop }
                try store.read { _ = try $0.count(Query("Note")) }
            }
            try store.close()
            try expectNothingOpen(trial, "after the store was closed")
        },
        Check("LIF-062", "A failed opening releases every file", needs: [.persistence]) { trial in
            let file = try trial.file("plain", "mine")
            for _ in 0..<3 {
                _ = try? trial.open(StoreOpening(directory: "\(file)/below"), named: "plain/below")
                _ = try? trial.open(StoreOpening(directory: file), named: "plain")
            }
            try expectNothingOpen(trial, "after openings that failed")
        },
        Check(
            "LIF-063", "An opening refused with locked leaves only the first store's files open",
            needs: [.exclusiveFiles]
        ) {
            trial in
            let store = try trial.store(.notes)
            let before = try OpenFiles.below(trial.directory)
            for _ in 0..<3 { _ = try? trial.open() }
            try trial.expect(try OpenFiles.below(trial.directory), is: before, "the open files")
            try store.close()
            try expectNothingOpen(trial, "after the store was closed")
        },
        Check("LIF-064", "A store keeps its files only in its own folder", needs: [.persistence]) { trial in
            try trial.file("mine.txt", "mine")
            let store = try trial.store(.notes, in: "a")
            try store.put([["id": "1"]], into: "Note")
            try store.close()
            try trial.open("a").close()
            try trial.expect(
                trial.names(in: trial.directory), is: ["a", "mine.txt"], "the names beside the store's folder")
            try trial.expect(!trial.names(in: "\(trial.directory)/a").isEmpty, "the store's folder is empty")
        },
        Check(
            "LIF-065", "A folder's name may contain words and letters of any script, spaces, and quotes",
            needs: [.persistence]
        ) {
            trial in
            try expectStores(
                trial, ["größe", "日本 語", "😀", "a b", " a", "a ", "'", "\"", "it's \"quoted\"", "-rf", "~"])
        },
        Check(
            "LIF-066", "A folder's name may contain characters with a meaning in URLs and patterns",
            why: "A path that is converted to a URL or a pattern ends at ? or #, or has its %41 decoded to A.",
            needs: [.persistence]
        ) { trial in
            try expectStores(
                trial,
                [
                    "a?b", "a#b", "a%41b", "a%b", "a&b=c", "a;b", "a:b", "a*b", "[a]", "{a}", "$HOME", "a\\b", "a+b",
                    "a\nb",
                ])
        },
        Check(
            "LIF-067", "A folder's name may be 200 bytes long, also within a long path",
            needs: [.persistence]
        ) {
            trial in
            let long = String(repeating: "n", count: 199)
            try expectStores(trial, ["\(long)1", "\(long)2"])
            _ = try trial.folder("deep/\(String(repeating: "d", count: 100))/\(String(repeating: "e", count: 100))")
            let deep = "deep/\(String(repeating: "d", count: 100))/\(String(repeating: "e", count: 100))/store"
            let store = try trial.store(.notes, in: deep)
            try store.put([["id": "1"]], into: "Note")
            try trial.expect(Query("Note"), in: try trial.reopened(store, in: deep), finds: ["1"])
        },
        Check(
            "LIF-068", "A folder that was moved while the store was closed opens in its new location",
            needs: [.persistence]
        ) {
            trial in
            let store = try trial.store(.notes, in: "before")
            try store.put([["id": "1"]], into: "Note")
            try store.close()
            do {
                let from = "\(trial.directory)/before"
                let to = "\(trial.directory)/after"
                try FileManager.default.moveItem(atPath: from, toPath: to)
            } catch { throw KitError("the folder cannot be moved: \(error)") }
            let moved = try trial.open("after")
            try trial.expect(Query("Note"), in: moved, finds: ["1"])
            try moved.put([["id": "2"]], into: "Note")
            try trial.expect(trial.names(in: trial.directory), is: ["after"], "the existing folders")
        },
        Check(
            "LIF-069", "A folder that was copied while the store was closed is an independent store",
            needs: [.persistence]
        ) {
            trial in
            let store = try trial.store(.notes, in: "first")
            try store.put([["id": "1"]], into: "Note")
            try store.close()
            do {
                let from = "\(trial.directory)/first"
                let to = "\(trial.directory)/second"
                try FileManager.default.copyItem(atPath: from, toPath: to)
            } catch { throw KitError("the folder cannot be copied: \(error)") }
            let first = try trial.open("first")
            let second = try trial.open("second")
            try first.put([["id": "2"]], into: "Note")
            try second.put([["id": "3"]], into: "Note")
            try trial.expect(Query("Note"), in: first, finds: ["1", "2"], "in the first")
            try trial.expect(Query("Note"), in: second, finds: ["1", "3"], "in the copy")
        },
    ]

    private static func expectNothingOpen(_ trial: Trial, _ when: String) throws {
        let open = try OpenFiles.below(trial.directory)
        try trial.expect(open.isEmpty, "\(when) this process still has files open: \(open.joined(separator: ", "))")
    }

    /// Fails unless stores in folders with these names are independent and nothing else is created.
    private static func expectStores(_ trial: Trial, _ names: [String]) throws {
        for name in names {
            let store = try trial.store(.notes, in: name)
            try store.put([["id": .string(name)]], into: "Note")
            try store.close()
        }
        for name in names {
            let store = try trial.open(name)
            try trial.expect(Query("Note"), in: store, finds: [.string(name)], "in the folder \(name.debugDescription)")
            try store.close()
        }
        try trial.expect(Set(trial.names(in: trial.directory)), is: Set(names), "the names beside the folders")
    }
}
