import Testing
import TidelineSQLite
import TidelineStore

/// Tests that the rows of a scan in a write transaction do not change while its body writes.
@Suite struct SQLiteWriteScanTests {
    @Test(arguments: [1, 2, nil])
    func aBodyThatMovesRowsAheadGetsEachOnce(_ limit: Int?) throws {
        let store = try SQLiteStore.inMemory()
        try store.define([TableSchema("t", columns: [.string("s"), .int("n")], indexes: [["n"]])])
        try store.write {
            try $0.upsert((0..<4).map { ["id": .string("\($0)"), "s": "old", "n": .int($0)] }, into: "t")
        }
        let query = TableQuery("t", predicate: .column("n") >= 0, limit: limit).order(by: "n")
        try store.write { writer in
            var seen: [String] = []
            try writer.scan(query) { view in
                let id = view.idText
                for number in 10..<14 {
                    try writer.upsert(["id": .string(id), "s": "new", "n": .int(Int64(number))], into: "t")
                }
                #expect(view.idText == id && view.owned()["s"] == "old" && view.owned()["n"] == .int(Int64(seen.count)))
                seen.append(id)
                return .next
            }
            #expect(seen == (0..<(limit ?? 4)).map { "\($0)" })
        }
    }
}
