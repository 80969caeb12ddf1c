internal import Foundation
internal import Synchronization
internal import TidelineStore

extension Check {
    /// A second store of this process on the same files, where they are shared.
    static let sharedOpening: [Check] = [
        Check(
            "LIF-040", "A second store on the same files sees what the first commits, and the other way round",
            needs: [.sharedFiles]
        ) {
            trial in
            let first = try trial.store(.notes)
            let second = try trial.open()
            for number in 0..<5 {
                try first.put([["id": .string("first \(number)")]], into: "Note")
                try trial.expect(try second.count(Query("Note")), is: number * 2 + 1, "rows that the second sees")
                try second.put([["id": .string("second \(number)")]], into: "Note")
                try trial.expect(try first.count(Query("Note")), is: number * 2 + 2, "rows that the first sees")
            }
        },
        Check(
            "LIF-041", "A second store on the same files sees the tables and columns that the first defines",
            why: "Definitions that are read once, when the store is opened, are soon out of date.",
            needs: [.sharedFiles]
        ) { trial in
            let first = try trial.open()
            let second = try trial.open()
            try first.define([.t(.int("a"))])
            try second.put([["id": "1", "a": 1]], into: "t")
            try second.define([.t(.int("a"), .string("b"), indexes: [["b"]])])
            let row: Row = ["id": "1", "a": 1, "b": .null, "createdAt": .null, "updatedAt": .null, "version": .null]
            try trial.expect(try first.row(in: "t", "1"), is: row, "the row that the first sees")
            try first.put([["id": "2", "b": "x"]], into: "t")
            try trial.expect(Query("t").filter(.column("b") == "x"), in: second, finds: ["2"])
            try first.define([.t(.int("a", optional: false))])
            try trial.expectError(.invalidValue, "a row without the required column", table: "t", column: "a") {
                try second.put([["id": "3"]], into: "t")
            }
        },
        Check("LIF-042", "Closing one of two stores on the same files leaves the other whole", needs: [.sharedFiles]) {
            trial in
            let first = try trial.store(.notes)
            let second = try trial.open()
            let third = try trial.open()
            try first.put([["id": "1"]], into: "Note")
            try first.close()
            try second.put([["id": "2"]], into: "Note")
            try trial.expect(Query("Note"), in: third, finds: ["1", "2"])
            try second.close()
            try third.put([["id": "3"]], into: "Note")
            try trial.expectError(.closed, "a read of a store that was closed") { try first.read { _ in } }
            try third.close()
            try trial.expect(Query("Note"), in: try trial.open(), finds: ["1", "2", "3"])
        },
        Check("LIF-043", "A store reached by a symbolic link is the same store", needs: [.sharedFiles]) { trial in
            let first = try trial.store(.notes)
            let second = try trial.open(try trial.link(), named: "link")
            try first.put([["id": "1"]], into: "Note")
            try second.put([["id": "2"]], into: "Note")
            try second.close()
            try first.put([["id": "3"]], into: "Note")
            try trial.expect(Query("Note"), in: first, finds: ["1", "2", "3"])
        },
        Check(
            "LIF-044", "Eight threads that open one folder at once make one store, with all their rows in it",
            why: "Whoever finds the folder empty makes the store: two who do, make it over each other.",
            needs: [.sharedFiles]
        ) { trial in
            for round in 0..<3 {
                try trial.onThreads(8, "opening one folder at once") { number in
                    let store = try trial.open("shared \(round)")
                    try store.define([.notes])
                    try store.put([["id": .string("\(number)")]], into: "Note")
                    try store.close()
                }
                let store = try trial.open("shared \(round)")
                try trial.expect(Query("Note"), in: store, finds: (0..<8).map { .string("\($0)") })
            }
        },
        Check(
            "LIF-045", "A write of one of two stores on the same files waits for the other's, and neither is lost",
            needs: [.sharedFiles]
        ) {
            trial in
            let stores = [try trial.store(.notes), try trial.open()]
            try stores[0].put([["id": "sum", "number": 0]], into: "Note")
            try trial.onThreads(4, "writing to two stores") { number in
                for _ in 0..<15 {
                    try stores[number % 2].write { writer in
                        let sum = try writer.row(in: "Note", id: "sum")?["number"]?.int ?? 0
                        try writer.upsert(["id": "sum", "number": .int(sum + 1)], into: "Note")
                    }
                }
            }
            for store in stores {
                try trial.expect(try store.row(in: "Note", "sum")?["number"], is: 60, "the sum of 60 increments")
            }
        },
        Check(
            "LIF-046", "A process that opens and closes the files leaves two stores of another process on them whole",
            why: """
                The last process that closes tidies the files up. It asks by a lock whether it is the last, and a process \
                loses its locks on a file when it closes any of its handles on it: as a second store is opened, say.
                """,
            needs: [.sharedFiles, .process]
        ) { trial in
            let first = try trial.store(.notes)
            let second = try trial.open()
            try first.put([["id": "1"]], into: "Note")
            let opening = StoreOpening(directory: try trial.folder("store"))
            try trial.childFinishing([.open(opening), .close])
            try first.put([["id": "2"]], into: "Note")
            try second.put([["id": "3"]], into: "Note")
            try trial.expect(Query("Note"), in: first, finds: ["1", "2", "3"], "in the first")
            try first.close()
            try second.close()
            try trial.expect(Query("Note"), in: try trial.open(), finds: ["1", "2", "3"], "after reopening")
        },
    ]

    /// A second store of this process on the same files, where one has them to itself.
    static let exclusiveOpening: [Check] = [
        Check(
            "LIF-050", "A second store on the same files is refused with locked, and the first works on",
            why: "Two stores that each hold the files to be theirs write over each other.", needs: [.exclusiveFiles]
        ) { trial in
            let first = try trial.store(.notes)
            try trial.expectError(.locked, "a second store") { _ = try trial.open() }
            try first.put([["id": "1"]], into: "Note")
            try trial.expect(Query("Note"), in: try trial.reopened(first), finds: ["1"])
        },
        Check(
            "LIF-051", "A second store that was refused leaves the first one's lock: a third is refused, too",
            why: "A lock of the process on a file is lost when the process closes any handle of it.",
            needs: [.exclusiveFiles]
        ) { trial in
            let first = try trial.store(.notes)
            for attempt in 1...4 {
                try trial.expectError(.locked, "attempt \(attempt)") { _ = try trial.open() }
            }
            try first.put([["id": "1"]], into: "Note")
            try trial.expect(Query("Note"), in: first, finds: ["1"])
        },
        Check("LIF-052", "Once the first store is closed, another opens at once, and again", needs: [.exclusiveFiles]) {
            trial in
            for number in 0..<6 {
                let store = try trial.store(.notes)
                try trial.expectError(.locked, "a second store") { _ = try trial.open() }
                try store.put([["id": .string("\(number)")]], into: "Note")
                try store.close()
            }
            try trial.expect(try trial.open().count(Query("Note")), is: 6, "rows")
        },
        Check(
            "LIF-053", "A second store that comes by a symbolic link is refused with locked", needs: [.exclusiveFiles]
        ) { trial in
            let first = try trial.store(.notes)
            let link = try trial.link()
            try trial.expectError(.locked, "a second store by a link") { _ = try trial.open(link, named: "link") }
            try first.put([["id": "1"]], into: "Note")
            try first.close()
            try trial.expect(Query("Note"), in: try trial.open(link, named: "link"), finds: ["1"], "by the link")
        },
        Check(
            "LIF-054", "Of eight threads that open one folder at once each gets the store or locked, and one gets it",
            needs: [.exclusiveFiles]
        ) { trial in
            for round in 0..<3 {
                let opened = Mutex<[String]>([])
                try trial.onThreads(8, "opening one folder at once") { number in
                    do {
                        let store = try trial.open("one \(round)")
                        try store.define([.notes])
                        try store.put([["id": .string("\(number)")]], into: "Note")
                        opened.withLock { $0.append("\(number)") }
                        try store.close()
                    } catch let error as StoreError where error.code == .locked {}
                }
                let ids = opened.withLock { $0 }.sorted()
                try trial.expect(!ids.isEmpty, "nobody got the store")
                try trial.expect(Query("Note"), in: try trial.open("one \(round)"), finds: ids.map { .string($0) })
            }
        },
        Check("LIF-055", "A store whose body is in flight keeps its files locked", needs: [.exclusiveFiles]) { trial in
            let store = try trial.store(.notes)
            try store.write { writer in
                try writer.upsert(["id": "1"], into: "Note")
                try trial.expectError(.locked, "a second store during a write") { _ = try trial.open() }
            }
            try store.read { _ in
                _ = try trial.expectError(.locked, "a second store during a read") { _ = try trial.open() }
            }
            try trial.expect(Query("Note"), in: store, finds: ["1"])
        },
    ]
}

extension Trial {
    /// An opening of the folder `store` by a symbolic link to it.
    fileprivate func link() throws -> StoreOpening {
        let path = "\(directory)/link"
        do {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: try folder("store"))
        } catch {
            throw KitError("no symbolic link can be made: \(error)")
        }
        return StoreOpening(directory: path)
    }
}
