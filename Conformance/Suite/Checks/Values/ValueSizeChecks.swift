internal import Foundation
internal import TidelineStore

extension Check {
    /// Large values.
    static let valueSizes: [Check] = [
        Check(
            "VAL-030", "Texts that differ only after many equal bytes are distinct and ordered",
            why: "Engines limit the length of a key; an index entry truncated there loses the rest."
        ) { context in
            for length in [255, 480, 511, 2_000] {
                let stem = String(repeating: "k", count: length)
                let texts = ["", "\0", "A", "a", "a\0", "aa", "é"].map { stem + $0 }
                try context.expectOrdered(texts.map { .string($0) }, as: .string)
            }
        },
        Check("VAL-031", "Bytes that differ only after many equal ones are distinct and ordered") { context in
            for length in [255, 511, 3_000] {
                let stem = [UInt8](repeating: 0, count: length)
                let ends: [[UInt8]] = [[], [0], [0, 0], [0, 1], [1], [255]]
                try context.expectOrdered(ends.map { .bytes(stem + $0) }, as: .bytes)
            }
        },
        Check("VAL-032", "Values with lengths around powers of two are returned completely") { context in
            let lengths = [127, 128, 255, 256, 1_024, 4_095, 4_096, 32_768, 65_535, 65_536]
            let texts = lengths.map { String(repeating: "x", count: $0 - 1) + "y" }
            try context.expectKept(texts.map { .string($0) }, as: .string)
            try context.expectKept(texts.map { .bytes(Array($0.utf8)) }, as: .bytes)
        },
        Check("VAL-033", "A text of 1 MB is returned byte for byte") { context in
            let text = String(repeating: "aé😀\0e\u{301}", count: 1 << 20 / 11)
            try expectLarge(.string(text), as: .string, context)
        },
        Check("VAL-034", "Bytes of 4 MB are returned byte for byte") { context in
            // No page, block, or buffer size divides the length, so a lost or swapped block is detected.
            let pattern = (0..<1_021).map { UInt8(truncatingIfNeeded: $0) }
            var bytes: [UInt8] = []
            while bytes.count < 4 << 20 { bytes += pattern }
            try expectLarge(.bytes(bytes), as: .bytes, context)
        },
        Check("VAL-035", "A row with many long values and its neighbors are returned completely") { context in
            let schema = TableSchema("Wide", columns: (0..<30).map { .string("c\($0)") }, indexes: [["c3"]])
            let rows = ["a", "b", "c"].map { id in
                schema.columns.enumerated().reduce(into: Row(id: .string(id))) { row, column in
                    row[column.element.name] = .string(String(repeating: id, count: column.offset * 500))
                }
            }
            try context.storing(rows, in: schema) { reader, place in
                try context.expect(schema, in: reader, holds: rows, place)
            }
        },
    ]

    /// Stores a value next to a small one and expects both from lookup and scan.
    private static func expectLarge(_ value: Value, as type: ColumnType, _ context: CheckContext) throws {
        let schema = TableSchema("Large", columns: [ColumnSchema("v", type), .string("after")])
        let (row, stored) = (["id": "1", "v": value, "after": "x"] as Row, data(value))
        try context.storing([row, ["id": "2", "after": "y"]], in: schema) { reader, place in
            for found in [try reader.row(in: "Large", id: "1"), try reader.allRows("Large").first] {
                let bytes = data(found?["v"])
                try context.expect(found?["v"]?.type, is: type, "\(place), the type of the value")
                try context.expect(bytes.count, is: stored.count, "\(place), the number of bytes")
                try context.expect(bytes == stored, "\(place), the bytes differ from those stored")
                try context.expect(found?["after"], is: "x", "\(place), the column after them")
            }
        }
    }

    /// Returns the bytes as `Data`, which compares megabytes at once; an elementwise comparison takes seconds without
    /// optimization.
    private static func data(_ value: Value?) -> Data {
        switch value {
        case .string(let text)?: Data(text.utf8)
        case .bytes(let bytes)?: Data(bytes)
        default: Data()
        }
    }
}
