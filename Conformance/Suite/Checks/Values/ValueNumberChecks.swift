internal import TidelineStore

extension Check {
    /// Extreme numbers and instants, and adjacent values.
    static let valueNumbers: [Check] = [
        Check("VAL-011", "The smallest and the greatest Int64 and their neighbors are stored, found, and ordered") {
            context in
            let numbers: [Int64] = [.min, .min + 1, .min + 2, -1, 0, 1, .max - 2, .max - 1, .max]
            try context.expectKept(numbers.map { .int($0) }, as: .int)
            try context.expectOrdered(numbers.map { .int($0) }, as: .int)
        },
        Check(
            "VAL-012", "Ints beyond 2^53 equal only themselves and are ordered among their neighbors",
            why: "As doubles, 2^53 and 2^53 + 1 are the same number: rows are merged or skipped."
        ) { context in
            let limit = Int64(1) << 53
            let numbers = [
                -limit - 2, -limit - 1, -limit, -limit + 1, limit - 1, limit, limit + 1, limit + 2, limit + 3,
            ]
            try context.expectKept(numbers.map { .int($0) }, as: .int)
            try context.expectOrdered(numbers.map { .int($0) }, as: .int)
        },
        Check("VAL-013", "Ints are ordered numerically, negative ones first") { context in
            let numbers: [Int64] = [
                -4_294_967_296, -256, -255, -10, -9, -1, 0, 1, 2, 9, 10, 12, 127, 128, 255, 256, 65_536,
            ]
            try context.expectOrdered(numbers.map { .int($0) }, as: .int)
        },
        Check("VAL-014", "Doubles are ordered numerically, down to their smallest difference") { context in
            let numbers: [Double] = [
                -.greatestFiniteMagnitude, -1e300, -10, -9.5, -1, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude,
                .leastNormalMagnitude, (1.0).nextDown, 1, (1.0).nextUp, 2, 10, 0x1p53, 0x1p53 + 2,
                .greatestFiniteMagnitude,
            ]
            try context.expectOrdered(numbers.map { .double($0) }, as: .double)
        },
        Check(
            "VAL-015", "Negative zero keeps its sign and equals zero",
            why: "An engine that stores a whole double as an int has only one zero; a bitwise key has two."
        ) { context in
            let rows: [Row] = [
                ["id": "-", "v": -0.0, "n": 1], ["id": "0", "v": 0.0, "n": 1], ["id": "1", "v": 1.0, "n": 1],
            ]
            try context.applyToValueTables(of: .double, rows) { table, reader, place in
                try context.expect(table, in: reader, holds: rows, place)
                for zero in [0.0, -0.0, 0] as [RowPredicate] {
                    let query = TableQuery(table.name, predicate: .column("v") == zero)
                    try context.expect(query, in: reader, finds: ["-", "0"], place)
                    try context.expect(
                        TableQuery(table.name, predicate: .column("v") < zero), in: reader, finds: [], place)
                }
                let down = TableQuery(table.name).order(by: "v", descending: true)
                try context.expect(down, in: reader, finds: ["1", "-", "0"], place)
            }
        },
        Check("VAL-016", "A double without a fraction stays a double") { context in
            let numbers: [Double] = [
                0, 1, -1, 2, 1_000_000, 0x1p31, 0x1p53, 0x1p62, 0x1p63, -0x1p63, 0x1p64, 1e15, 1e22,
            ]
            try context.expectKept(numbers.map { .double($0) }, as: .double)
        },
        Check("VAL-017", "NaN is stored, equals nothing, and sorts after null", needs: [.nan]) { context in
            let rows: [Row] = [["id": "nan", "v": .double(.nan)], ["id": "one", "v": 1.0], ["id": "null"]]
            try context.applyToValueTables(of: .double, rows) { table, reader, place in
                try context.expect(table, in: reader, holds: rows, place)
                let (all, operand) = (TableQuery(table.name), RowPredicate.column("v"))
                let nan = RowPredicate.literal(.double(.nan))
                try context.expect(all.filter(operand == operand), in: reader, finds: ["null", "one"], place)
                for condition in [operand == nan, operand < nan, operand > nan, operand.isIn([.double(.nan)])] {
                    try context.expect(all.filter(condition), in: reader, finds: [], place)
                }
                for condition in [operand <= 1, operand >= 1, operand >= -1] {
                    try context.expect(all.filter(condition), in: reader, finds: ["one"], place)
                }
                try context.expect(all.order(by: "v"), in: reader, finds: ["null", "nan", "one"], place)
            }
        },
        Check("VAL-018", "NaN is refused, naming table, column and id", needs: [.noNaN]) { context in
            try expectRefused(.nan, context)
        },
        Check("VAL-019", "Infinities are stored, found, and sort at the ends of the order", needs: [.infinity]) {
            context in
            let numbers: [Double] = [
                -.infinity, -.greatestFiniteMagnitude, 0, .greatestFiniteMagnitude, .infinity,
            ]
            try context.expectKept(numbers.map { .double($0) }, as: .double)
            try context.expectOrdered(numbers.map { .double($0) }, as: .double)
        },
        Check("VAL-020", "Infinities are refused, naming table, column and id", needs: [.noInfinity]) { context in
            for number in [Double.infinity, -.infinity] { try expectRefused(number, context) }
        },
        Check(
            "VAL-021", "Instants 100 ns apart are distinct and ordered",
            why: "Truncated to milliseconds or stored as a double, they become equal; a pull loses or repeats rows."
        ) { context in
            for ticks in [17_672_256_001_234_567, 0, -17_672_256_000_000_000] as [Int64] {
                let neighbours = (-2...2).map { Value.timestamp(Timestamp(clampingTicks: ticks + $0)) }
                try context.expectKept(neighbours, as: .timestamp)
                try context.expectOrdered(neighbours, as: .timestamp)
            }
        },
        Check("VAL-022", "Instants from year 1 to 9999, also before 1970, are stored, found, and ordered") { context in
            let seconds: [Int64] = [-62_135_596_799, -11_644_473_600, -2_208_988_800, -1, 0, 1, 253_402_300_799]
            let instants = seconds.map { Timestamp(clampingTicks: $0 * Timestamp.ticksPerSecond) }
            let all =
                ([.min, Timestamp.min.advanced(byTicks: 1)] + instants + [Timestamp.max.advanced(byTicks: -1), .max])
            try context.expectKept(all.map { .timestamp($0) }, as: .timestamp)
            try context.expectOrdered(all.map { .timestamp($0) }, as: .timestamp)
        },
    ]

    private static func expectRefused(_ number: Double, _ context: CheckContext) throws {
        let store = try context.typedStore([.typed("1")])
        let table = TableSchema.allTypes.name
        let what = "an upsert of \(number)"
        try context.expectError(.invalidValue, what, table: table, column: "double", id: "1") {
            try store.put([["id": "2"], ["id": "1", "double": .double(number)]], into: table)
        }
        try store.read { try context.expect(.allTypes, in: $0, holds: [.typed("1")], "after \(what)") }
    }
}
