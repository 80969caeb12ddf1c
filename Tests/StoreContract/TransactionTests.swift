import Dispatch
import Foundation
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores

@Suite struct TransactionTests {
    private struct Abort: Error {}
    private static let counters = TableSchema("counter", columns: [.int("n", optional: false)])

    @Test(arguments: StoreKind.all)
    func aThrowRollsBackAllTables(_ subject: StoreKind) throws {
        try subject.withStore(.items, Self.counters) { store throws in
            try store.write { try $0.upsert(["id": "1", "text": "kept"], into: "TodoItem") }
            #expect(throws: Abort.self) {
                try store.write { writer throws in
                    try writer.upsert(["id": "1", "text": "lost"], into: "TodoItem")
                    try writer.upsert(["id": "1", "n": 1], into: "counter")
                    try writer.delete(matching: Query("TodoItem"))
                    throw Abort()
                }
            }
            try store.read { reader throws in
                #expect(try reader.row(in: "TodoItem", id: "1")?["text"] == "kept")
                #expect(try reader.count(Query("counter")) == 0)
            }
            try store.write { try $0.upsert(["id": "1", "n": 1], into: "counter") }
        }
    }

    @Test(arguments: StoreKind.all)
    func ownChangesAreSeenInsideAndNotOutsideUntilCommit(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { writer throws in
                try writer.upsert(["id": "1", "text": "new"], into: "TodoItem")
                #expect(try writer.row(in: "TodoItem", id: "1")?["text"] == "new")
                #expect(try writer.count(Query("TodoItem")) == 1)
                if store.capabilities.readersDoNotBlockWriters {
                    #expect(try store.read { try $0.count(Query("TodoItem")) } == 0)
                } else {
                    expectError(.busy) { try store.read { _ in } }
                }
                try writer.delete(id: "1", from: "TodoItem")
                try writer.upsert(["id": "1", "priority": 5], into: "TodoItem")
            }
            #expect(try store.read { try $0.row(in: "TodoItem", id: "1")?["text"] } == .null)
        }
    }

    /// Rows that the body puts ahead of the scan do not come again, and the scan ends.
    @Test(arguments: StoreKind.all, [nil, "priority", "text"])
    func aScanInAWriteGivesTheRowsThereWereWhenItBegan(_ subject: StoreKind, order: String?) throws {
        try subject.withStore(.items) { store throws in
            let rows = (0..<20).map { ["id": .string("r\($0)"), "priority": .int($0), "text": "old"] as Row }
            try store.write { writer throws in
                try writer.upsert(rows, into: "TodoItem")
                var query = Query("TodoItem").filter(.column("priority") >= 0)
                if let order { query = query.order(by: order) }
                var seen: [String] = []
                try writer.scan(query) { view throws in
                    let row = view.owned()
                    seen.append(row.id)
                    #expect(row["text"] == "old")
                    let number = Int64(100 + seen.count)
                    let changed = ["id": .string(row.id), "priority": .int(number), "text": "new"] as Row
                    try writer.upsert(changed, into: "TodoItem")
                    try writer.upsert(["id": .string("s\(number)"), "priority": .int(number)], into: "TodoItem")
                    if seen.count == 7 { try writer.delete(id: "r19", from: "TodoItem") }
                    return seen.count < 60 ? .next : .stop
                }
                #expect(seen.count == 20 && Set(seen) == Set(rows.map(\.id)), "\(seen)")
                // The one that was deleted meanwhile came all the same, and was put back.
                #expect(try writer.count(query) == 40)
            }
        }
    }

    @Test(arguments: StoreKind.concurrent)
    func aReadSeesOneVersionWhileWritesGoOn(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { try $0.upsert(["id": "1", "text": "old"], into: "TodoItem") }
            try store.read { reader throws in
                let group = DispatchGroup()
                Thread.run(in: group) {
                    try? store.write { writer throws in
                        try writer.upsert([["id": "1", "text": "new"], ["id": "2"]], into: "TodoItem")
                    }
                }
                group.wait()
                #expect(try store.read { try $0.count(Query("TodoItem")) } == 2)
                #expect(try reader.row(in: "TodoItem", id: "1")?["text"] == "old")
                #expect(try reader.count(Query("TodoItem")) == 1)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func scansNestAndStop(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { try $0.upsert((0..<9).map { ["id": .string("\($0)")] }, into: "TodoItem") }
            try store.read { reader throws in
                var pairs: [String] = []
                let total = try reader.scan(Query("TodoItem", includesTotalCount: true)) { outer in
                    let outerID = outer.id
                    try reader.scan(Query("TodoItem").limit(2)) { inner in
                        try reader.withRow(in: "TodoItem", id: inner.key) { pairs.append(outerID + $0.id) }
                        return .next
                    }
                    return outerID == "2" ? .stop : .next
                }
                #expect(total == 9)
                #expect(pairs == ["00", "01", "10", "11", "20", "21"])
                #expect(throws: Abort.self) { try reader.scan(Query("TodoItem")) { _ in throw Abort() } }
                #expect(throws: Abort.self) { try reader.withRow(in: "TodoItem", id: "1") { _ in throw Abort() } }
                #expect(try reader.count(Query("TodoItem")) == 9)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func aRowLentByAScanStaysWhileTheBodyWrites(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { writer throws in
                try writer.upsert(
                    (0..<9).map { ["id": .string("\($0)"), "text": .string("t\($0)")] }, into: "TodoItem")
                try writer.scan(Query("TodoItem").order(by: "text")) { row in
                    try writer.delete(id: row.id, from: "TodoItem")
                    try writer.upsert(
                        ["id": "9", "text": .string(String(repeating: "z", count: 9000))], into: "TodoItem")
                    #expect(row["text"] == .string("t\(row.id)") || row.id == "9")
                    return row.id == "5" ? .stop : .next
                }
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func noUpdateIsLostAmongWriters(_ subject: StoreKind) throws {
        try subject.withStore(Self.counters) { store throws in
            try store.write { try $0.upsert((0..<4).map { ["id": .string("\($0)"), "n": 100] }, into: "counter") }
            let group = DispatchGroup()
            let failures = Mutex<[String]>([])
            for thread in 0..<4 {
                Thread.run(in: group) {
                    for step in 0..<50 {
                        do {
                            try Self.move(1, from: (thread + step) % 4, to: (thread + step + 1) % 4, in: store)
                        } catch {
                            failures.withLock { $0.append("\(error)") }
                        }
                    }
                }
            }
            group.wait()
            #expect(failures.withLock { $0 } == [])
            let counts = try store.read { try $0.allRows("counter").compactMap { $0["n"]?.int } }
            #expect(counts == [100, 100, 100, 100])
        }
    }

    private static func move(_ amount: Int64, from: Int, to: Int, in store: any LocalStore) throws {
        try store.write { writer throws in
            for (id, change) in [(from, -amount), (to, amount)] {
                let count = try writer.row(in: "counter", id: "\(id)")?["n"]?.int ?? 0
                try writer.upsert(["id": .string("\(id)"), "n": .int(count + change)], into: "counter")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func readersBesideAWriterSeeNoHalfTransaction(_ subject: StoreKind) throws {
        try subject.withStore(Self.counters) { store throws in
            try store.write { try $0.upsert([["id": "a", "n": 0], ["id": "b", "n": 0]], into: "counter") }
            let isDone = Atomic(false)
            let problems = Mutex<[String]>([])
            let group = DispatchGroup()
            for _ in 0..<4 {
                Thread.run(in: group) {
                    var last: Int64 = 0
                    repeat {
                        do {
                            let (a, b) = try store.read { reader throws in
                                (
                                    try reader.row(in: "counter", id: "a")?["n"]?.int ?? -1,
                                    try reader.row(in: "counter", id: "b")?["n"]?.int ?? -2
                                )
                            }
                            if a != b || a < last { problems.withLock { $0.append("\(a) \(b) after \(last)") } }
                            last = a
                        } catch {
                            problems.withLock { $0.append("\(error)") }
                        }
                    } while !isDone.load(ordering: .relaxed)
                }
            }
            for n in 1...200 {
                try store.write { writer throws in
                    try writer.upsert(["id": "a", "n": .int(Int64(n))], into: "counter")
                    try writer.upsert(["id": "b", "n": .int(Int64(n))], into: "counter")
                }
            }
            isDone.store(true, ordering: .relaxed)
            group.wait()
            #expect(problems.withLock { $0 } == [])
        }
    }

    @Test(arguments: StoreKind.all)
    func writersRacingForOneIDMakeOneRow(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            let group = DispatchGroup()
            for thread in 0..<6 {
                Thread.run(in: group) {
                    for step in 0..<20 {
                        let id = (thread + step) % 2 == 0 ? "Same" : "sAME"
                        try? store.write {
                            try $0.upsert(["id": .string(id), "priority": .int(Int64(step))], into: "TodoItem")
                        }
                    }
                }
            }
            group.wait()
            let rows = try store.read { try $0.allRows("TodoItem") }
            #expect(rows.count == 1)
            #expect(rows.first?["priority"] == 19)
        }
    }
}
