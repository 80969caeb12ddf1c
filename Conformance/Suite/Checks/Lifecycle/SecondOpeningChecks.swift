internal import Foundation
internal import Synchronization
internal import TidelineStore

extension Check {
    /// A second store of this process on the same files, if files are shared.
    static let sharedOpening: [Check] = [
        Check("LIF-040", "Each of two stores on the same files sees the commits of the other") { context in
            let first = try context.store(.notes)
            let second = try context.open()
            for number in 0..<5 {
                try first.put([["id": .string("first \(number)")]], into: "Note")
                try context.expect(second.count(TableQuery("Note")), is: number * 2 + 1, "rows that the second sees")
                try second.put([["id": .string("second \(number)")]], into: "Note")
                try context.expect(first.count(TableQuery("Note")), is: number * 2 + 2, "rows that the first sees")
            }
        },
        Check(
            "LIF-041", "A second store on the same files sees the tables and columns that the first defines",
            why: "Definitions that are read only once, at opening, become stale."
        ) { context in
            let first = try context.open()
            let second = try context.open()
            try first.define([.t(.int("a"))])
            try second.put([["id": "1", "a": 1]], into: "t")
            try second.define([.t(.int("a"), .string("b"), indexes: [["b"]])])
            let row: Row = ["id": "1", "a": 1, "b": .null, "createdAt": .null, "updatedAt": .null, "version": .null]
            try context.expect(first.row(in: "t", "1"), is: row, "the row that the first sees")
            try first.put([["id": "2", "b": "x"]], into: "t")
            try context.expect(TableQuery("t").filter(.column("b") == "x"), in: second, finds: ["2"])
            try first.define([.t(.int("a", optional: false))])
            try context.expectError(.invalidValue, "a row without the required column", table: "t", column: "a") {
                try second.put([["id": "3"]], into: "t")
            }
        },
        Check("LIF-042", "Closing one of two stores on the same files does not affect the other") { context in
            let first = try context.store(.notes)
            let second = try context.open()
            let third = try context.open()
            try first.put([["id": "1"]], into: "Note")
            try first.close()
            try second.put([["id": "2"]], into: "Note")
            try context.expect(TableQuery("Note"), in: third, finds: ["1", "2"])
            try second.close()
            try third.put([["id": "3"]], into: "Note")
            try context.expectError(.closed, "a read of a store that was closed") { try first.read { _ in } }
            try third.close()
            try context.expect(TableQuery("Note"), in: context.open(), finds: ["1", "2", "3"])
        },
        Check("LIF-043", "A store opened through a symbolic link is the same store", needs: [.files]) { context in
            let first = try context.store(.notes)
            let second = try context.open(context.link(), named: "link")
            try first.put([["id": "1"]], into: "Note")
            try second.put([["id": "2"]], into: "Note")
            try second.close()
            try first.put([["id": "3"]], into: "Note")
            try context.expect(TableQuery("Note"), in: first, finds: ["1", "2", "3"])
        },
        Check(
            "LIF-044", "Eight threads that open one folder at once create one store with the rows of all",
            why: "A thread that finds the folder empty creates the store: two such threads overwrite each other."
        ) { context in
            for round in 0..<3 {
                try context.onThreads(8, "opening one folder at once") { number in
                    let store = try context.store(.notes, in: "shared \(round)")
                    try store.put([["id": .string("\(number)")]], into: "Note")
                    try store.close()
                }
                let store = try context.open("shared \(round)")
                try context.expect(TableQuery("Note"), in: store, finds: (0..<8).map { .string("\($0)") })
            }
        },
        Check("LIF-045", "A write to one of two stores on the same files waits for the other's, and neither is lost") {
            context in
            let stores = [try context.store(.notes), try context.open()]
            try stores[0].put([["id": "sum", "number": 0]], into: "Note")
            try context.onThreads(4, "writing to two stores") { number in
                for _ in 0..<15 {
                    try stores[number % 2].write { writer in
                        let sum = try writer.row(in: "Note", id: "sum")?["number"]?.int ?? 0
                        try writer.upsert(["id": "sum", "number": .int(sum + 1)], into: "Note")
                    }
                }
            }
            for store in stores {
                try context.expect(store.row(in: "Note", "sum")?["number"], is: 60, "the sum of 60 increments")
            }
        },
        Check(
            "LIF-046", "A process that opens and closes the files leaves two stores of another process intact",
            why: "The last process to close cleans up. Its lock is lost if it closes another handle of the same file.",
            needs: [.process]
        ) { context in
            let first = try context.store(.notes)
            let second = try context.open()
            try first.put([["id": "1"]], into: "Note")
            let opening = StoreOpening(directory: try context.folder("store"))
            try context.childFinishing([.open(opening), .close])
            try first.put([["id": "2"]], into: "Note")
            try second.put([["id": "3"]], into: "Note")
            try context.expect(TableQuery("Note"), in: first, finds: ["1", "2", "3"], "in the first")
            try first.close()
            try second.close()
            try context.expect(TableQuery("Note"), in: context.open(), finds: ["1", "2", "3"], "after reopening")
        },
    ].needing(.sharedFiles)

    /// A second store of this process on the same files, if files are exclusive.
    static let exclusiveOpening: [Check] = [
        Check(
            "LIF-050", "A second store on the same files is refused with locked, and the first still works",
            why: "Two stores that each assume exclusive use of the files overwrite each other."
        ) { context in
            let first = try context.store(.notes)
            try context.expectError(.locked, "a second store") { _ = try context.open() }
            try first.put([["id": "1"]], into: "Note")
            try context.expect(TableQuery("Note"), in: context.reopened(first), finds: ["1"])
        },
        Check(
            "LIF-051", "A refused second store does not release the first one's lock: a third is also refused",
            why: "A process's lock on a file is released when the process closes any handle of it."
        ) { context in
            let first = try context.store(.notes)
            for attempt in 1...4 {
                try context.expectError(.locked, "attempt \(attempt)") { _ = try context.open() }
            }
            try first.put([["id": "1"]], into: "Note")
            try context.expect(TableQuery("Note"), in: first, finds: ["1"])
        },
        Check("LIF-052", "Once the first store is closed, another can be opened immediately, repeatedly") { context in
            for number in 0..<6 {
                let store = try context.store(.notes)
                try context.expectError(.locked, "a second store") { _ = try context.open() }
                try store.put([["id": .string("\(number)")]], into: "Note")
                try store.close()
            }
            try context.expect(context.open().count(TableQuery("Note")), is: 6, "rows")
        },
        Check("LIF-053", "A second store opened through a symbolic link is refused with locked") { context in
            let first = try context.store(.notes)
            let link = try context.link()
            try context.expectError(.locked, "a second store through a link") {
                _ = try context.open(link, named: "link")
            }
            try first.put([["id": "1"]], into: "Note")
            try first.close()
            try context.expect(
                TableQuery("Note"), in: context.open(link, named: "link"), finds: ["1"], "through the link")
        },
        Check(
            "LIF-054",
            "Of eight threads that open one folder at once, each gets the store or locked, and at least one gets it"
        ) { context in
            for round in 0..<3 {
                let opened = Mutex<[String]>([])
                try context.onThreads(8, "opening one folder at once") { number in
                    do {
                        let store = try context.store(.notes, in: "one \(round)")
                        try store.put([["id": .string("\(number)")]], into: "Note")
                        opened.withLock { $0.append("\(number)") }
                        try store.close()
                    } catch let error as StoreError where error.code == .locked {}
                }
                let ids = opened.withLock { $0 }.sorted()
                try context.expect(!ids.isEmpty, "no thread opened the store")
                try context.expect(TableQuery("Note"), in: context.open("one \(round)"), finds: ids.map { .string($0) })
            }
        },
        Check("LIF-055", "A store keeps its files locked while a body is running") { context in
            let store = try context.store(.notes)
            try store.write { writer in
                try writer.upsert(["id": "1"], into: "Note")
                try context.expectError(.locked, "a second store during a write") { _ = try context.open() }
            }
            try store.read { _ in
                _ = try context.expectError(.locked, "a second store during a read") { _ = try context.open() }
            }
            try context.expect(TableQuery("Note"), in: store, finds: ["1"])
        },
    ].needing(.exclusiveFiles)
}

extension CheckContext {
    /// Returns an opening of the folder `store` through a symbolic link to it.
    fileprivate func link() throws -> StoreOpening {
        let path = "\(directory)/link"
        do {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder("store"))
        } catch {
            throw HarnessError("cannot create a symbolic link: \(error)")
        }
        return StoreOpening(directory: path)
    }
}
