import Testing
import TidelineStore

@testable import TidelineSimulation

/// The model that the simulation checks the devices against.
@Suite("Oracle")
struct OracleTests {
    private static let schema = [TableSchema("T", columns: [.string("a"), .string("b")])]

    private func row(_ a: Value, _ b: Value = .null) -> Row { ["id": "r", "a": a, "b": b] }

    /// Makes an oracle in which device 0 inserted a row that both devices have seen.
    private func makeShared() -> Oracle {
        var oracle = Oracle(devices: 2, schema: Self.schema)
        oracle.edited(0, row("one"), in: "T", inserts: true, step: 1)
        oracle.serverWrote(0, "r", in: "T", before: nil, after: row("one"), "POST")
        oracle.sees(1, row("one"), in: "T")
        return oracle
    }

    private func names(_ oracle: Oracle) -> [String] { oracle.violations.map(\.invariant) }

    @Test("An edit that never reached the server is lost")
    func lost() {
        var oracle = makeShared()
        oracle.edited(1, ["id": "r", "a": "two"], in: "T", inserts: false, step: 2)
        oracle.finish()
        #expect(names(oracle) == ["no edit is lost"])
    }

    @Test("An edit that a resolution dropped is not lost, but one that was made after the conflict is")
    func dropped() {
        var oracle = makeShared()
        oracle.edited(1, ["id": "r", "a": "two"], in: "T", inserts: false, step: 2)
        let mark = oracle.mark(of: 1)
        var later = oracle
        oracle.dropped(1, "r", in: "T", before: mark)
        oracle.finish()
        #expect(names(oracle).isEmpty)
        later.edited(1, ["id": "r", "b": "three"], in: "T", inserts: false, step: 3)
        later.dropped(1, "r", in: "T", before: mark)
        later.finish()
        #expect(names(later) == ["no edit is lost"])
    }

    @Test("A change that the device had not seen must not be overwritten, or deleted")
    func unseen() {
        var oracle = makeShared()
        oracle.serverWrote(nil, "r", in: "T", before: row("one"), after: row("script"), "script")
        oracle.edited(1, ["id": "r", "a": "two"], in: "T", inserts: false, step: 2)
        var other = oracle
        oracle.serverWrote(1, "r", in: "T", before: row("script"), after: row("two"), "PATCH")
        #expect(names(oracle) == ["nothing is overwritten unseen"])
        other.deleted(1, "r", in: "T", local: row("two"), remote: row("script"))
        other.serverWrote(1, "r", in: "T", before: row("script"), after: nil, "DELETE")
        #expect(names(other) == ["nothing is overwritten unseen"])
    }

    @Test("A value that was replaced must not come back without another edit")
    func twice() {
        var oracle = makeShared()
        oracle.edited(1, ["id": "r", "a": "two"], in: "T", inserts: false, step: 2)
        oracle.serverWrote(1, "r", in: "T", before: row("one"), after: row("two"), "PATCH")
        var edited = oracle
        oracle.serverWrote(0, "r", in: "T", before: row("two"), after: row("one"), "PATCH")
        #expect(names(oracle).contains("each operation takes effect once"))
        edited.sees(0, row("two"), in: "T")
        edited.edited(0, ["id": "r", "a": "one"], in: "T", inserts: false, step: 3)
        edited.serverWrote(0, "r", in: "T", before: row("two"), after: row("one"), "PATCH")
        #expect(names(edited).isEmpty)
    }

    @Test("A deleted row comes back only if a user inserted it")
    func restored() {
        var oracle = makeShared()
        oracle.serverWrote(nil, "r", in: "T", before: row("one"), after: nil, "script")
        var inserted = oracle
        oracle.serverWrote(0, "r", in: "T", before: nil, after: row("one"), "POST")
        #expect(names(oracle) == ["deleted rows stay deleted"])
        inserted.edited(1, row("two"), in: "T", inserts: true, step: 2)
        inserted.serverWrote(1, "r", in: "T", before: nil, after: row("two"), "POST")
        #expect(names(inserted).isEmpty)
        inserted.serverWrote(nil, "r", in: "T", before: row("two"), after: nil, "script")
        inserted.serverWrote(1, "r", in: "T", before: nil, after: row("two"), "POST")
        #expect(names(inserted) == ["deleted rows stay deleted"])
    }

    @Test("The delete of a row that the server has must reach it")
    func lostDelete() {
        var oracle = makeShared()
        oracle.deleted(0, "r", in: "T", local: ["id": "r", "version": "v1"], remote: row("one"))
        var reached = oracle
        oracle.finish()
        #expect(names(oracle) == ["no edit is lost"])
        reached.serverWrote(0, "r", in: "T", before: row("one"), after: nil, "DELETE")
        reached.finish()
        #expect(names(reached).isEmpty)
    }

    @Test("An edit is undone if its column has the value again that it replaced, unless someone wrote it later")
    func undone() {
        var oracle = makeShared()
        oracle.sees(0, row("one"), in: "T")
        oracle.edited(1, ["id": "r", "a": "two"], in: "T", inserts: false, step: 2)
        #expect(oracle.lostEdits { _, _ in row("one") }.map(\.value) == ["two"])
        #expect(oracle.lostEdits { _, _ in row("two") }.isEmpty)
        // The same value in another row explains nothing.
        var other = oracle
        other.edited(0, ["id": "s", "a": "one"], in: "T", inserts: true, step: 3)
        #expect(other.lostEdits { _, id in id == "r" ? row("one") : nil }.map(\.value) == ["two"])
        oracle.edited(0, ["id": "r", "a": "three"], in: "T", inserts: false, step: 3)
        #expect(oracle.lostEdits { _, _ in row("three") }.isEmpty)
    }

    // MARK: Decisions of policies

    private func violation(_ rule: String, base: Row?, local: Row?, server: Row?, result: Row?) -> String? {
        DecisionCheck(rule: rule, base: base, local: local, server: server, result: result).violation(in: ["a", "b"])
    }

    @Test("A policy that decides for a side decides for its whole row, or for its delete")
    func sides() {
        let (mine, theirs) = (row("mine", "x"), row("theirs", "y"))
        for (rule, wins, loses) in [("serverWins", theirs, mine), ("clientWins", mine, theirs)] {
            #expect(violation(rule, base: nil, local: mine, server: theirs, result: wins) == nil)
            for result in [loses, row(wins["a"] ?? .null), nil] {
                #expect(violation(rule, base: nil, local: mine, server: theirs, result: result) != nil)
            }
        }
        #expect(violation("serverWins", base: nil, local: mine, server: nil, result: nil) == nil)
        #expect(violation("serverWins", base: nil, local: mine, server: nil, result: mine) != nil)
        let rule = "merge (deletion: change wins)"
        for (local, server) in [(mine, nil), (nil, mine)] as [(Row?, Row?)] {
            #expect(violation(rule, base: theirs, local: local, server: server, result: mine) == nil)
            #expect(violation(rule, base: theirs, local: local, server: server, result: nil) != nil)
        }
    }

    @Test("A merge takes the value of the side that alone has changed a column, and any value if both have")
    func merges() {
        func merged(_ base: Row, _ local: Row, _ server: Row, _ result: Row) -> Bool {
            violation("merge (b: client)", base: base, local: local, server: server, result: result) == nil
        }
        let base = row("one", "x")
        #expect(merged(base, row("mine", "x"), row("one", "theirs"), row("mine", "theirs")))
        #expect(!merged(base, row("mine", "x"), row("one", "theirs"), row("one", "theirs")))
        #expect(!merged(base, row("mine", "x"), row("one", "theirs"), row("mine", "x")))
        #expect(merged(base, row("same"), row("same", "x"), row("same")))
        #expect(!merged(base, row("same"), row("same", "x"), row("one")))
        for result in ["mine", "theirs", "both"] as [Value] {
            #expect(merged(base, row("mine", "x"), row("theirs", "x"), row(result, "x")))
        }
        // Of an ancestor whose column is not known, it is not known which side has changed it.
        #expect(merged(["id": "r", "b": "x"], row("mine", "x"), row("theirs", "x"), row("theirs", "x")))
    }
}
