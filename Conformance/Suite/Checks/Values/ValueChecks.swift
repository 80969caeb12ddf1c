internal import TidelineStore

extension Check {
    /// Values and ids.
    static let values: [Check] = [
        valuesByType, valueNumbers, valueTexts, valueSizes, idTexts, idMatching, idNumbers,
    ].flatMap { $0 }

    /// Values of each type.
    static let valuesByType: [Check] = [
        Check(
            "VAL-001", "A bool stays a bool",
            why: "Engines without the type store 0 and 1 and return an int unless converted."
        ) { context in
            try context.expectKept([true, false, .null, true], as: .bool)
            try context.expectOrdered([false, true], as: .bool)
        },
        Check("VAL-002", "An int is returned as the same int, with any size and sign") { context in
            let powers = stride(from: 0, to: 63, by: 7).map { Int64(1) << $0 }
            let numbers: [Int64] = [0, 1, -1, 255, -256] + powers.flatMap { [$0 - 1, $0, -$0, -$0 - 1] }
            try context.expectKept(numbers.map { .int($0) } + [.null], as: .int)
        },
        Check("VAL-003", "A double is returned bit for bit") { context in
            let numbers: [Double] = [
                0.1, 1.0 / 3, -2.5, 1e-300, 1e300, .pi, .ulpOfOne, .leastNonzeroMagnitude * 1_000, 0x1p53 + 2,
                123_456_789.123_456_79,
                .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
                -.leastNonzeroMagnitude, (1.0).nextUp, (1.0).nextDown,
            ]
            try context.expectKept(numbers.map { .double($0) } + [.null], as: .double)
        },
        Check("VAL-004", "A text is returned byte for byte") { context in
            let scalars = ["\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}", "\u{FEFF}"]
            try context.expectKept((RandomValues.texts + scalars).map { .string($0) } + [.null], as: .string)
        },
        Check("VAL-005", "A timestamp is returned exactly, to the tick of 100 ns, as a timestamp") { context in
            let ticks: [Int64] = [
                0, 1, -1, 9_999_999, 10_000_000, 17_672_256_000_000_001, 17_672_256_001_234_567,
                -62_135_596_800_000_001,
            ]
            try context.expectKept(ticks.map { .timestamp(Timestamp(clampingTicks: $0)) } + [.null], as: .timestamp)
        },
        Check("VAL-006", "Bytes are returned byte for byte, with any content") { context in
            let each = (UInt8.min...UInt8.max).map { Value.bytes([$0]) }
            let runs: [[UInt8]] = [
                Array(0...255), [0, 0], [0, 1], [0xFF, 0xFE], [0xC3, 0x28], [0xED, 0xA0, 0x80], Array("text".utf8),
            ]
            try context.expectKept(each + runs.map { .bytes($0) } + [.null], as: .bytes)
        },
        Check(
            "VAL-007", "JSON is returned byte for byte: order of keys, white space, escapes, numbers",
            why: "A store that parses it changes numbers beyond 2^53, drops duplicate keys, and sorts the others."
        ) { context in
            try context.expectKept(jsonTexts.map { .json($0) } + [.null], as: .json)
        },
        Check("VAL-008", "JSON nested 5,000 levels deep is returned byte for byte") { context in
            let arrays = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
            let objects = String(repeating: "{\"a\":", count: 5_000) + "1" + String(repeating: "}", count: 5_000)
            try context.onSmallStack("nested JSON") {
                try context.expectKept([.json(arrays), .json(objects)], as: .json)
            }
        },
        Check("VAL-009", "Null stays null in a column of every type and equals only null") { context in
            let rows: [Row] = [.typed("1"), Row(id: "2").completed(for: .allTypes), ["id": "3"]]
            try context.apply(to: context.typedStore()) { writer in
                for table in TableSchema.typedTables { try writer.upsert(rows, into: table.name) }
            } thenLook: { reader, place in
                for table in TableSchema.typedTables {
                    try context.expect(table, in: reader, holds: rows, place)
                    for column in table.columns {
                        let (all, operand) = (TableQuery(table.name), RowPredicate.column(column.name))
                        try context.expect(all.filter(operand == .null), in: reader, finds: ["2", "3"], place)
                        try context.expect(all.filter(operand != .null), in: reader, finds: ["1"], place)
                    }
                }
            }
        },
        Check(
            "VAL-010", "Values that look alike each keep the type of their column",
            why: "An engine with dynamic types, or one that treats a numeric text as a number, mixes them up."
        ) { context in
            for text in ["1", "1.0", "[1]", "true", "1970-01-01T00:00:00Z"] {
                let row: Row = [
                    "id": .string(text), "bool": true, "int": 1, "double": 1.0, "string": .string(text),
                    "timestamp": .timestamp(Timestamp(clampingTicks: 1)), "bytes": .bytes(Array(text.utf8)),
                    "json": .json(text),
                ]
                try context.expectRows(become: [row]) { try $0.upsert(row, into: $1) }
            }
        },
    ]

    private static let jsonTexts = [
        "{}", "[]", "{\"b\":1,\"a\":2}", "{ \"a\" : [ 1 ,\n\t2 ] }", "[1,2]", "[1, 2]", " [1]\n", "{\"a\":1,\"a\":2}",
        "[\"\\u0000\\u00e9\\/\\n\\ud83d\\ude00\"]", "[\"é😀e\u{301}\"]",
        "[1.0,1e2,-0,0.10,123456789012345678901234567890]",
        "[9007199254740993]", "{\"\":null}", "{\"A\":{\"b\":[true,false,null]}}", "[\"it's; -- \\\\ % _\"]",
    ]
}
