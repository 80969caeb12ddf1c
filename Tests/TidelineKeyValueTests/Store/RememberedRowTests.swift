import Testing
import TidelineStore

@testable import TidelineKeyValue

/// Tests that rows whose keys an engine remembers are not looked up again.
@Suite struct RememberedRowTests {
    private let engine: WrappedEngine
    private let store: KeyValueStore<WrappedEngine>

    init() throws { (engine, store) = try openStore(over: WrappedEngine(remembersKeys: true), Self.table) }

    private static let table = TableSchema("t", columns: [.int("n")], systemColumns: [])

    private struct Own: Error {}

    private func row(_ id: String, _ number: Int64 = 0) -> Row { ["id": .string(id), "n": .int(number)] }

    /// Returns the number of engine operations to write a whole row.
    private func steps(_ id: String) throws -> Int {
        try engine.countSteps { try store.write { try $0.upsert(row(id, 1), into: "t") } }
    }

    private func count() throws -> Int { try store.read { try $0.count(TableQuery("t")) } }

    @Test func aRowThatWasFoundIsNotLookedForAgain() throws {
        try store.write { try $0.upsert(row("a"), into: "t") }
        let first = try steps("a")
        #expect(try steps("a") == first - 1)
        #expect(try steps("a") == first - 1)
        #expect(try store.read { try $0.row(in: "t", id: "a") } == row("a", 1))
        // A row that the transaction has read is not looked up either.
        try store.write { try $0.upsert(row("b"), into: "t") }
        try store.write { writer throws in #expect(try writer.row(in: "t", id: "b") == row("b")) }
        #expect(try steps("b") == first - 1)
        #expect(try count() == 2)
        try engine.audit()
    }

    @Test func aRowThatWasRemovedIsNewAgain() throws {
        try store.write { try $0.upsert([row("a"), row("b")], into: "t") }
        try store.write { try $0.upsert([row("a"), row("b")], into: "t") }
        #expect(try store.write { try $0.delete(id: "a", from: "t") })
        #expect(try store.write { try $0.delete(matching: TableQuery("t")) } == 1)
        #expect(try count() == 0)
        try store.write { try $0.upsert([row("a"), row("b")], into: "t") }
        #expect(try count() == 2)
        try engine.audit()
    }

    @Test func whatATransactionThatCameToNothingFoundIsForgotten() throws {
        for id in ["a", "b"] {
            #expect(throws: Own.self) {
                try store.write { writer throws in
                    try writer.upsert(row(id), into: "t")
                    try writer.upsert(row(id), into: "t")
                    throw Own()
                }
            }
            try store.write { try $0.upsert(row(id), into: "t") }
        }
        #expect(try count() == 2)
        try engine.audit()
    }

    @Test func aTableThatComesToHaveAnIndexHasAllItsEntries() throws {
        for _ in 0..<2 { try store.write { try $0.upsert(row("a"), into: "t") } }
        var table = Self.table
        table.indexes = [["n"]]
        try store.define([table])
        for number in 1...3 as ClosedRange<Int64> { try store.write { try $0.upsert(row("a", number), into: "t") } }
        #expect(try store.read { try $0.count(TableQuery("t").filter(.column("n") == 3)) } == 1)
        try engine.audit()
    }

    @Test func anIDStaysAsItWasSpelledFirst() throws {
        for id in ["Row", "row", "ROW", "row"] {
            try store.write { try $0.upsert(row(id), into: "t") }
            try store.write { writer throws in #expect(try writer.row(in: "t", id: "row")?.id == "Row") }
        }
        for id in ["other", "Other", "other", "Other"] { try store.write { try $0.upsert(row(id), into: "t") } }
        #expect(try store.read { try $0.rows(matching: TableQuery("t")).rows.map(\.id) } == ["other", "Row"])
        try engine.audit()
    }
}
