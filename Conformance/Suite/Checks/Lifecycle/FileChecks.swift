internal import Foundation
internal import TidelineStore

extension Check {
    /// A store's files: their location, their names, and their release.
    static let storeFiles: [Check] = [
        Check(
            "LIF-060", "A closed store has released every file: no handles or maps remain open",
            why: "An open handle prevents the removal of files and exhausts the process's descriptors.",
            needs: [.persistence]
        ) { context in
            for opening in 1...3 {
                let store = try context.store(.items, holding: [["id": "1"]])
                _ = try store.allRows("TodoItem")
                try store.close()
                try expectNothingOpen(context, "after opening \(opening) was closed")
            }
        },
        Check(
            "LIF-061", "A store that was read by several threads at once releases every file when closed",
            needs: [.persistence]
        ) { context in
            let store = try context.store(.notes, holding: (0..<50).map { ["id": .string("\($0)")] })
            try context.onThreads(6, "reading") { number in
                for _ in 0..<5 { _ = try store.allRows("Note") }
                if number == 0 { try store.put([["id": "new"]], into: "Note") }
            }
            try store.read { reader in
                _ = try reader.scan(TableQuery("Note")) { _ in .stop }
                _ = try store.count(TableQuery("Note"))
            }
            try store.close()
            try expectNothingOpen(context, "after the store was closed")
        },
        Check("LIF-062", "A failed opening releases every file", needs: [.persistence]) { context in
            let file = try context.file("plain", "mine")
            try context.store(.notes, in: "foreign").close()
            try context.replaceFiles(below: context.folder("foreign"), by: "mine")
            for _ in 0..<3 {
                try? context.open("foreign").close()
                _ = try? context.open(StoreOpening(directory: "\(file)/below"), named: "plain/below")
                _ = try? context.open(StoreOpening(directory: file), named: "plain")
            }
            try expectNothingOpen(context, "after openings that failed")
        },
        Check(
            "LIF-063", "An opening refused with locked leaves only the first store's files open",
            needs: [.exclusiveFiles]
        ) { context in
            let store = try context.store(.notes)
            let before = try OpenFiles.below(context.directory)
            for _ in 0..<3 { _ = try? context.open() }
            try context.expect(OpenFiles.below(context.directory), is: before, "the open files")
            try store.close()
            try expectNothingOpen(context, "after the store was closed")
        },
        Check("LIF-064", "A store keeps its files only in its own folder", needs: [.persistence, .files]) { context in
            try context.file("mine.txt", "mine")
            let store = try context.store(.notes, holding: [["id": "1"]], in: "a")
            try store.close()
            try context.open("a").close()
            try context.expect(context.names(in: context.directory), is: ["a", "mine.txt"], "names beside the store")
            try context.expect(!context.names(in: "\(context.directory)/a").isEmpty, "the store's folder is empty")
        },
        Check(
            "LIF-065", "A folder's name may contain words and letters of any script, spaces, and quotes",
            needs: [.persistence]
        ) { context in
            try expectStores(
                context, ["größe", "日本 語", "😀", "a b", " a", "a ", "'", "\"", "it's \"quoted\"", "-rf", "~"])
        },
        Check(
            "LIF-066", "A folder's name may contain characters with a meaning in URLs and patterns",
            why: "A path that is converted to a URL or a pattern ends at ? or #, or has its %41 decoded to A.",
            needs: [.persistence]
        ) { context in
            try expectStores(
                context,
                [
                    "a?b", "a#b", "a%41b", "a%b", "a&b=c", "a;b", "a:b", "a*b", "[a]", "{a}", "$HOME", "a\\b", "a+b",
                    "a\nb",
                ])
        },
        Check(
            "LIF-067", "A folder's name may be 200 bytes long, also within a long path",
            needs: [.persistence]
        ) { context in
            let long = String(repeating: "n", count: 199)
            try expectStores(context, ["\(long)1", "\(long)2"])
            _ = try context.folder("deep/\(String(repeating: "d", count: 100))/\(String(repeating: "e", count: 100))")
            let deep = "deep/\(String(repeating: "d", count: 100))/\(String(repeating: "e", count: 100))/store"
            let store = try context.store(.notes, holding: [["id": "1"]], in: deep)
            try context.expect(TableQuery("Note"), in: context.reopened(store), finds: ["1"])
        },
        Check(
            "LIF-068", "A folder that was moved while the store was closed opens in its new location",
            needs: [.persistence, .files]
        ) { context in
            try context.store(.notes, holding: [["id": "1"]], in: "before").close()
            do {
                let from = "\(context.directory)/before"
                let to = "\(context.directory)/after"
                try FileManager.default.moveItem(atPath: from, toPath: to)
            } catch { throw HarnessError("the folder cannot be moved: \(error)") }
            let moved = try context.open("after")
            try context.expect(TableQuery("Note"), in: moved, finds: ["1"])
            try moved.put([["id": "2"]], into: "Note")
            try context.expect(context.names(in: context.directory), is: ["after"], "the existing folders")
        },
        Check(
            "LIF-069", "A folder that was copied while the store was closed is an independent store",
            needs: [.persistence, .files]
        ) { context in
            try context.store(.notes, holding: [["id": "1"]], in: "first").close()
            do {
                let from = "\(context.directory)/first"
                let to = "\(context.directory)/second"
                try FileManager.default.copyItem(atPath: from, toPath: to)
            } catch { throw HarnessError("the folder cannot be copied: \(error)") }
            let first = try context.open("first")
            let second = try context.open("second")
            try first.put([["id": "2"]], into: "Note")
            try second.put([["id": "3"]], into: "Note")
            try context.expect(TableQuery("Note"), in: first, finds: ["1", "2"], "in the first")
            try context.expect(TableQuery("Note"), in: second, finds: ["1", "3"], "in the copy")
        },
    ]

    private static func expectNothingOpen(_ context: CheckContext, _ when: String) throws {
        let open = try OpenFiles.below(context.directory)
        try context.expect(open.isEmpty, "\(when) this process still has files open: \(open.joined(separator: ", "))")
    }

    /// Fails unless stores in folders with these names are independent and nothing else is created.
    private static func expectStores(_ context: CheckContext, _ names: [String]) throws {
        for name in names {
            let store = try context.store(.notes, holding: [["id": .string(name)]], in: name)
            try store.close()
        }
        for name in names {
            let store = try context.open(name)
            try context.expect(
                TableQuery("Note"), in: store, finds: [.string(name)], "in the folder \(name.debugDescription)")
            try store.close()
        }
        try context.expect(Set(context.names(in: context.directory)), is: Set(names), "the names beside the folders")
    }
}
