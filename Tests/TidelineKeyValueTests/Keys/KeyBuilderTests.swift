import Testing
import TidelineConformance
import TidelineStore
import TidelineSupport

@testable import TidelineKeyValue

/// Compares the order of keys with the evaluator's order, which defines the meaning of a query.
@Suite struct KeyBuilderTests {
    @Test(arguments: ColumnType.allCases)
    func keysOfOneColumnCompareAsItsValuesDo(_ type: ColumnType) throws {
        var values = KeyCase.edges(of: type)
        let seed = UInt64.random(in: 0...99_999)
        var random = SplitMix64(seed: seed)
        let source = RandomValues(includesNaN: true, includesLongTexts: true)
        for _ in 0..<150 { values.append(source.value(type, using: &random)) }
        for isDescending in [false, true] {
            let keys = KeyCase(types: [type], descending: [isDescending])
            try keys.expectOrder(of: values.map { [$0] }, "seed \(seed)")
        }
    }

    @Test func keysOfSeveralColumnsCompareAsAnOrderOverThem() throws {
        let seed = UInt64.random(in: 0...99_999)
        var random = SplitMix64(seed: seed)
        let source = RandomValues(includesNaN: true)
        for _ in 0..<40 {
            let count = Int.random(in: 2...4, using: &random)
            let types = (0..<count).map { _ in ColumnType.allCases.randomElement(using: &random) ?? .int }
            let keys = KeyCase(types: types, descending: types.map { _ in Bool.random(using: &random) })
            // A small number of values per column, so that the later columns also affect the order.
            let pools = types.map { type in
                (0..<4).map { _ in source.value(type, using: &random) } + KeyCase.edges(of: type).prefix(3)
            }
            let rows = (0..<60).map { _ in pools.map { $0.randomElement(using: &random) ?? .null } }
            try keys.expectOrder(of: rows, "seed \(seed)")
        }
    }

    @Test(arguments: [TableSchema.IDMatching.exact, .asciiCaseInsensitive])
    func keysOfRowsCompareAsTheirIDs(_ matching: TableSchema.IDMatching) throws {
        let seed = UInt64.random(in: 0...99_999)
        var random = SplitMix64(seed: seed)
        let source = RandomValues(includesLongTexts: true)
        let ids = RandomValues.texts + (0..<100).map { _ in source.string(using: &random) }
        let schema = TableSchema("t", columns: [], idMatching: matching)
        try KeyCase.expectOrder(of: ids.map { .string($0) }, in: schema, "seed \(seed)")
    }

    @Test func keysOfRowsWithIntegerIDsCompareAsNumbers() throws {
        let ids: [Int64] = [.min, .min + 1, -256, -255, -1, 0, 1, 255, 256, 1 << 32, .max - 1, .max]
        let schema = TableSchema("t", columns: [], idType: .int)
        try KeyCase.expectOrder(of: ids.shuffled().map { .int($0) }, in: schema, "")
        for id in ids {
            var key = KeyBuilder()
            _ = key.append(id: .int(id), of: .int)
            #expect(key.bytes.withUnsafeBytes { KeyBuilder.int(fromID: $0) } == id)
        }
    }

    @Test func anIDOfAnotherTypeThanTheTablesAddsNothing() {
        var key = KeyBuilder(KeySpace(number: 7))
        let added = [
            key.append(id: .int(1), of: .exact), key.append(id: .int(1), of: .folded), key.append(id: "1", of: .int),
        ]
        #expect(added == [false, false, false])
        #expect(key.bytes == [0, 0, 0, 7])
    }

    @Test func keysOfOneSpaceLieBeforeThoseOfTheNext() {
        for number in [0, 1, 0xFE, 0xFF, 0x100, 0xFFFF, 0xFF_FFFF] as [UInt32] {
            var greatest = KeyBuilder(KeySpace(number: number))
            _ = greatest.append(id: .int(.max), of: .int)
            let range = KeySpace(number: number).range
            let next = KeySpace(number: number + 1).prefix
            #expect(greatest.bytes.withUnsafeBytes { range.contains($0) })
            #expect(next.withUnsafeBytes { !range.contains($0) })
        }
    }

    @Test(arguments: ColumnType.allCases)
    func aComponentSaysWhereItEnds(_ type: ColumnType) throws {
        var random = SplitMix64(seed: 1)
        let source = RandomValues(includesNaN: true)
        let values = KeyCase.edges(of: type) + (0..<50).map { _ in source.value(type, using: &random) }
        for value in values {
            for next in values.prefix(5) {
                var key = KeyBuilder(KeySpace(number: 3))
                key.append(value)
                let end = key.bytes.count
                key.append(next)
                key.bytes.withUnsafeBytes { bytes in
                    let start = KeySpace.length
                    #expect(KeyBuilder.componentLength(in: bytes, at: start, type: type) == end - start)
                    for cut in start..<end {
                        let rest = UnsafeRawBufferPointer(rebasing: bytes[..<cut])
                        let length = KeyBuilder.componentLength(in: rest, at: start, type: type)
                        #expect(length == nil, "\(value) cut at \(cut)")
                    }
                }
            }
        }
    }

    /// Files are not trusted: for any bytes, the length of a component stays within them.
    @Test(arguments: ColumnType.allCases)
    func noBytesMakeAComponentReachBeyondTheKey(_ type: ColumnType) {
        var random = SplitMix64(seed: 2)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...14, using: &random)
            let bytes = (0..<count).map { _ in [0, 1, 2, 3, 4, 97, 255].randomElement(using: &random) ?? 0 as UInt8 }
            let start = Int.random(in: 0...16, using: &random)
            bytes.withUnsafeBytes { bytes in
                guard let length = KeyBuilder.componentLength(in: bytes, at: start, type: type) else { return }
                #expect(length > 0 && start + length <= count)
            }
        }
    }

    @Test func whatTextsBeginWithIsWhatTheirKeysBeginWith() {
        let texts = RandomValues.texts + ["\0\0", "a\0\0", "a\0\u{1}"]
        for prefix in texts {
            var beginning = KeyBuilder()
            var prefix = prefix
            prefix.withUTF8 { beginning.append(beginningOf: UnsafeRawBufferPointer($0)) }
            for text in texts {
                var key = KeyBuilder()
                key.append(.string(text))
                #expect(key.bytes.starts(with: beginning.bytes) == text.utf8.starts(with: prefix.utf8))
            }
        }
    }

    @Test func aKeyBegunAnewForgetsTheOneBefore() {
        var key = KeyBuilder(KeySpace(number: 1))
        key.append(.string("long gone"))
        key.begin(KeySpace(number: 2))
        key.append(.bool(true))
        #expect(key.bytes == [0, 0, 0, 2, 3, 1])
    }
}

/// Keys over columns of some types, compared with the evaluator's order of rows of those columns.
private struct KeyCase {
    let types: [ColumnType]
    let descending: [Bool]

    private var schema: TableSchema {
        let columns = types.enumerated().map { ColumnSchema("c\($0)", $1) }
        return TableSchema("t", columns: columns, systemColumns: [])
    }

    /// Boundary values, where an encoding is likely to have errors.
    static func edges(of type: ColumnType) -> [Value] {
        let values: [Value] =
            switch type {
            case .bool: [.bool(false), .bool(true)]
            case .int: [.min, .min + 1, -257, -256, -1, 0, 1, 255, 256, .max - 1, .max].map { .int($0) }
            case .double:
                [
                    .nan, -.nan, -.infinity, -.greatestFiniteMagnitude, -1.5, -1, -.leastNonzeroMagnitude, -0.0, 0,
                    .leastNonzeroMagnitude, .leastNormalMagnitude, 1, 1.5, .greatestFiniteMagnitude, .infinity,
                ].map { .double($0) }
            case .string:
                ["", "\0", "\0\0", "\u{1}", "a", "a\0", "a\0\0", "a\0b", "a\u{1}", "aa", "\u{10FFFF}"]
                    .map { .string($0) }
            case .timestamp:
                [Timestamp.min, Timestamp(clampingTicks: -1), Timestamp(clampingTicks: 0), .max]
                    .map { .timestamp($0) }
            case .bytes:
                [[], [0], [0, 0], [0, 1], [0, 0xFF], [1], [0xFE], [0xFF], [0xFF, 0], [0xFF, 0xFF]].map { .bytes($0) }
            case .json: ["{}", "[]", "[\"\0\"]", "[\"\0\0\"]"].map { .json($0) }
            }
        return [.null] + values
    }

    func expectOrder(of rows: [[Value]], _ comment: Comment) throws {
        var packed = PackedRows(shape: schema.makeShape())
        for values in rows {
            packed.beginRow()
            for (index, value) in values.enumerated() { packed.set(value, at: index) }
            // All ids are equal, so that only the columns determine the order.
            packed.setID("x")
            try packed.endRow()
        }
        let terms = zip(schema.columns, descending).map { OrderTerm($0.name, descending: $1) }
        let order = Evaluator(schema: schema).order(terms, for: packed.shape)
        let entries = (0..<packed.count).map { position in
            packed.withRow(at: position) { row in (order.key(of: row), key(of: row), key(of: rows[position])) }
        }
        for (_, key, sameKey) in entries { #expect(key == sameKey, comment) }
        let sorted = entries.map { ($0.0, $0.1) }.sorted { order.precedes($0.0, $1.0) }
        Self.expectAscending(sorted, by: order, comment)
    }

    /// Expects keys to have the order of the values they encode, which are sorted.
    private static func expectAscending(_ sorted: [(RowOrder.Key, [UInt8])], by order: RowOrder, _ comment: Comment) {
        for (former, latter) in zip(sorted, sorted.dropFirst()) {
            let isSame =
                former.1.lexicographicallyPrecedes(latter.1) == order.precedes(former.0, latter.0)
                && !latter.1.lexicographicallyPrecedes(former.1)
            if !isSame { Issue.record("\(former) and \(latter) lie otherwise than their keys; \(comment)") }
        }
    }

    private func key(of row: borrowing RowView) -> [UInt8] {
        var key = KeyBuilder()
        for index in types.indices { key.append(column: index, of: row, descending: descending[index]) }
        return key.bytes
    }

    private func key(of values: [Value]) -> [UInt8] {
        var key = KeyBuilder()
        for (value, isDescending) in zip(values, descending) { key.append(value, descending: isDescending) }
        return key.bytes
    }

    /// Expects row keys, and ids as components in both directions, to have the evaluator's order of ids.
    static func expectOrder(of ids: [RowID], in schema: TableSchema, _ comment: Comment) throws {
        var packed = PackedRows(shape: schema.makeShape())
        for id in ids { try packed.append(Row(id: id)) }
        let rule = IDRule(schema)
        let evaluator = Evaluator(schema: schema)
        let ascending = evaluator.order([], for: packed.shape)
        let descending = evaluator.order([OrderTerm("id", descending: true)], for: packed.shape)
        let keys = (0..<packed.count).map { position in
            packed.withRow(at: position) { row in
                (ascending.key(of: row), descending.key(of: row), row.withIDBytes { IDKeys($0, rule) })
            }
        }
        let rising = keys.sorted { ascending.precedes($0.0, $1.0) }
        expectAscending(rising.map { ($0.0, $0.2.row) }, by: ascending, comment)
        expectAscending(rising.map { ($0.0, $0.2.component) }, by: ascending, comment)
        let falling = keys.sorted { descending.precedes($0.1, $1.1) }
        expectAscending(falling.map { ($0.1, $0.2.descending) }, by: descending, comment)
        for id in ids {
            var key = KeyBuilder()
            let isAdded = key.append(id: id, of: rule)
            #expect(isAdded && keys.contains { $0.2.row == key.bytes })
        }
    }

    private struct IDKeys {
        let row: [UInt8]
        let component: [UInt8]
        let descending: [UInt8]

        init(_ id: UnsafeRawBufferPointer, _ rule: IDRule) {
            var key = KeyBuilder()
            key.append(id: id, of: rule)
            row = key.bytes
            key.begin()
            key.append(idComponent: id, of: rule)
            component = key.bytes
            key.begin()
            key.append(idComponent: id, of: rule, descending: true)
            descending = key.bytes
        }
    }
}
