import Testing
import TidelineConformance
import TidelineStore
import TidelineSupport

@testable import TidelineKeyValue

/// Tests that the intervals of conditions contain exactly the values that satisfy the conditions.
@Suite struct KeyIntervalsTests {
    private static func interval(_ lower: Int, _ upper: Int?) -> KeyInterval {
        KeyInterval(lower: [UInt8(lower)], upper: upper.map { [UInt8($0)] })
    }

    /// Returns all members between 0 and 15 of a set of intervals.
    private static func members(_ intervals: KeyIntervals) -> [Int] {
        (0..<16).filter { number in
            intervals.intervals.contains { interval in
                !([UInt8(number)].precedes(interval.lower)) && interval.upper.map([UInt8(number)].precedes) ?? true
            }
        }
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func intersectionsAndUnionsHoldWhatTheyShould(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func some() -> [KeyInterval] {
            (0..<Int.random(in: 0...5, using: &random)).compactMap { _ in
                let lower = Int.random(in: 0..<15, using: &random)
                let upper = Int.random(in: lower + 1...17, using: &random)
                return Self.interval(lower, upper > 15 ? nil : upper)
            }
        }
        let (a, b) = (some(), some())
        let (one, other) = (KeyIntervals(union: a), KeyIntervals(union: b))
        let both = Self.members(one.intersection(other))
        #expect(both == Self.members(one).filter(Self.members(other).contains), "seed \(seed)")
        #expect(Self.members(KeyIntervals(union: a + b)) == Set(Self.members(one) + Self.members(other)).sorted())
        for (x, y) in zip(one.intervals, one.intervals.dropFirst()) {
            #expect(x.upper.map { !y.lower.precedes($0) } ?? false, "seed \(seed): \(one)")
        }
    }

    /// The bounds of an index over doubles, especially close to the zeros.
    @Test(arguments: RowPredicate.Comparison.allCases)
    func boundsOfDoublesAreExact(_ comparison: RowPredicate.Comparison) throws {
        let schema = TableSchema("t", columns: [.double("d")], systemColumns: [], indexes: [["d"]])
        let tiny = Double.leastNonzeroMagnitude
        let doubles: [Double] = [
            -.infinity, -.greatestFiniteMagnitude, -1, -tiny, -0.0, 0, tiny, 1, 0x1p53, 0x1p63, .infinity, .nan,
        ]
        var rows = doubles.enumerated().map { ["id": .string("\($0)"), "d": .double($1)] as Row }
        rows.append(["id": "null", "d": .null])
        let packed = try PackedRows(rows, of: schema)
        let fixture = try QueryFixture(schema, packed)
        let ints: [Int64] = [.min, -1, 0, 1, 1 << 53, 1 << 53 + 1, .max]
        for literal in doubles.map(Value.double) + ints.map(Value.int) {
            let query = TableQuery("t", predicate: .comparison(comparison, .column("d"), .literal(literal)))
            let expected = try fixture.table.evaluator.result(of: query, over: packed)
            #expect(try fixture.result(of: query).rows.map(\.id) == expected.rows.map(\.id), "\(literal)")
            #expect(try fixture.count(query) == expected.rows.count, "\(literal)")
        }
    }
}
