import Testing
import TidelineStore
import TidelineSupport

@testable import TidelineLive

@Suite("The index of live queries by their conditions")
struct PredicateIndexTests {
    private static let schema = TableSchema(
        "Item", columns: [.string("list"), .int("number"), .double("score"), .bool("done"), .timestamp("due")],
        systemColumns: [])

    private struct Filed {
        let query: LiveRegistration
        let condition: IndexedCondition
        let predicate: RowPredicate
    }

    private func filed(_ predicate: RowPredicate) -> Filed {
        Filed(
            query: LiveRegistration(TableQuery("Item", predicate: predicate)),
            condition: IndexedCondition(predicate, in: Evaluator(schema: Self.schema)), predicate: predicate)
    }

    private func candidates(_ index: PredicateIndex, of row: Row) throws -> Set<ObjectIdentifier> {
        var packed = PackedRows(shape: Self.schema.makeShape())
        try packed.append(row)
        var found: Set<ObjectIdentifier> = []
        packed.withRow(at: 0) { row in index.forEachCandidate(of: row) { found.insert(ObjectIdentifier($0)) } }
        return found
    }

    @Test("A row meets each query that matches it, and few others, also after queries are removed")
    func candidatesOfRandomRows() throws {
        var source = RandomConditions()
        var index = PredicateIndex()
        var queries = (0..<400).map { _ in filed(source.predicate()) }
        for filed in queries { index.insert(filed.query, under: filed.condition) }
        var (candidateCount, matchCount) = (0, 0)
        for round in 0..<400 {
            if round % 2 == 1 {
                let removed = queries.remove(at: Int.random(in: 0..<queries.count, using: &source.random))
                index.remove(removed.query, under: removed.condition)
            }
            let row = source.row(round)
            let found = try candidates(index, of: row)
            var packed = PackedRows(shape: Self.schema.makeShape())
            try packed.append(row)
            for filed in queries {
                let matches = try packed.withRow(at: 0) {
                    try Evaluator(schema: Self.schema).matches(filed.predicate, $0)
                }
                if matches { #expect(found.contains(ObjectIdentifier(filed.query)), "\(filed.predicate) \(row)") }
                matchCount += matches ? 1 : 0
            }
            candidateCount += found.count
        }
        #expect(matchCount > 1_000 && candidateCount < matchCount * 2)
        for filed in queries { index.remove(filed.query, under: filed.condition) }
        #expect(index.isEmpty)
    }

    @Test("Queries with different values do not meet each other's rows")
    func selectivity() throws {
        var index = PredicateIndex()
        for number in 0..<1_000 {
            let list = filed(.column("list") == .literal(.string("list \(number)")) && .column("done") == false)
            let range = filed(
                .column("number") > .literal(.int(Int64(number * 10)))
                    && .column("number") < .literal(.int(Int64(number * 10 + 10))))
            index.insert(list.query, under: list.condition)
            index.insert(range.query, under: range.condition)
        }
        #expect(try candidates(index, of: ["id": "a", "list": "list 7", "number": 4_321, "done": false]).count == 2)
    }
}

/// Random conditions and rows of the table.
private struct RandomConditions {
    var random = SplitMix64(seed: 5)

    private mutating func number() -> Int64 { Int64.random(in: -20...20, using: &random) }

    mutating func predicate() -> RowPredicate {
        let n = RowPredicate.column("number")
        let (a, b) = (RowPredicate.literal(.int(number())), RowPredicate.literal(.int(number())))
        let half = RowPredicate.literal(.double(Double(number()) + 0.5))
        return switch Int.random(in: 0..<14, using: &random) {
        case 0: n == a
        case 1: n >= a && n <= b
        case 2: n > half && RowPredicate.column("score") < half
        case 3: RowPredicate.column("list") == "a"
        case 4: RowPredicate.column("id") == "X1"
        case 5: n.isIn([.int(number()), .double(3), .null])
        case 6: RowPredicate.column("done")
        case 7: !RowPredicate.column("done")
        case 8: RowPredicate.column("score") == a
        case 9: n.isNull
        case 10: a < n && RowPredicate.column("list").hasPrefix("b")
        case 11: RowPredicate.column("score").isBetween(a, and: half)
        case 12: n == a || n == b
        default: RowPredicate.column("due") >= .literal(.timestamp(Timestamp(clampingTicks: number())))
        }
    }

    mutating func row(_ round: Int) -> Row {
        [
            "id": .string(["x1", "y"][round % 2]), "list": .string(["a", "b", "bc"][round % 3]),
            "number": round % 7 == 0 ? .null : .int(number()),
            "score": .double([Double(number()), -0.0, .nan, 2.5][round % 4]),
            "done": [.null, .bool(true), .bool(false)][round % 3],
            "due": .timestamp(Timestamp(clampingTicks: number())),
        ]
    }
}
