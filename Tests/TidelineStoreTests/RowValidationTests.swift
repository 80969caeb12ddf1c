import Testing
import TidelineSupport

@testable import TidelineStore

@Suite("Validation of rows with many columns")
struct RowValidationTests {
    /// Returns a shape of random columns and a row of it, each value null or not.
    private static func random(_ random: inout SplitMix64) throws -> (shape: RowShape, bytes: [UInt8]) {
        let columns = (0..<Int.random(in: 1...27, using: &random)).map { number in
            ColumnSchema("c\(number)", ColumnType.allCases.randomElement(using: &random) ?? .int)
        }
        let shape = RowShape(columns: columns)
        var rows = PackedRows(shape: shape)
        var row = Row(id: "a")
        for column in columns {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: row[column.name] = .null
            case 1: break
            default: row[column.name] = value(column.type, &random)
            }
        }
        try rows.append(row)
        return (shape, rows.withRow(at: 0) { $0.withPackedBytes { Array($0) } })
    }

    private static func value(_ type: ColumnType, _ random: inout SplitMix64) -> Value {
        let text = String(repeating: "x", count: Int.random(in: 0...300, using: &random))
        switch type {
        case .bool: return .bool(.random(using: &random))
        case .int: return .int(.random(in: .min ... .max, using: &random))
        case .double: return .double(.random(in: -1...1, using: &random))
        case .timestamp: return .timestamp(.max)
        case .string: return .string(text)
        case .bytes: return .bytes(Array(text.utf8))
        case .json: return .json(text)
        }
    }

    /// Whether bytes are a row of a shape, checked column by column against the description of the format.
    private static func isRow(_ bytes: [UInt8], of shape: RowShape) -> Bool {
        guard bytes.count >= 8, bytes[0] == 1 || bytes[0] == 2 else { return false }
        let columns = Int(bytes[2]) + Int(bytes[3]) << 8
        let width = bytes[0] == 1 ? 2 : 4
        let payload = 8 + columns * (1 + width)
        guard columns <= shape.count, bytes.count >= payload else { return false }
        var previous = 0
        for column in 0..<columns {
            let place = 8 + columns + column * width
            let end = bytes[place..<place + width].reversed().reduce(0) { $0 << 8 | Int($1) }
            guard let tag = RowTag(rawValue: bytes[8 + column]), tag.fits(shape.columns[column].type) else {
                return false
            }
            let lengths: ClosedRange<Int> =
                switch tag {
                case .absent, .null, .false, .true: 0...0
                case .int, .double, .timestamp: 8...8
                case .string, .bytes, .json: 0...Int.max
                }
            guard lengths.contains(end - previous) else { return false }
            previous = end
        }
        return payload + previous == bytes.count
    }

    /// Returns the values of a row, read one by one and all at once, or `nil` if the view refuses the row.
    private static func read(_ bytes: [UInt8], _ shape: RowShape) -> (one: [Value?], all: [Value?])? {
        try? bytes.withUnsafeBytes { bytes in
            var view = RowView(shape: shape)
            try view.point(atID: UnsafeRawBufferPointer(start: nil, count: 0), validating: bytes)
            var all: [Value?] = []
            view.forEachValue { index, value in
                #expect(index == all.count)
                all.append(value.owned)
            }
            return ((0..<shape.count).map { view.value(at: $0) }, all)
        }
    }

    @Test("Only complete rows of a layout are accepted at once", arguments: 0..<40 as Range<UInt64>)
    func takesWholeRowsAtOnce(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (shape, bytes) = try Self.random(&random)
        #expect(Self.isTakenAtOnce(bytes, shape, layout: 0) == (bytes[0] == 1))
        #expect(!Self.isTakenAtOnce(bytes, shape, layout: 1))
        for _ in 0..<400 {
            var damaged = bytes
            let place = Int.random(in: 0..<min(8 + shape.count * 3, bytes.count), using: &random)
            damaged[place] = UInt8.random(in: 0...255, using: &random)
            if .random(using: &random) { damaged.removeLast(Int.random(in: 0...damaged.count, using: &random)) }
            let isWhole = damaged.starts(with: bytes.prefix(8)) && bytes[0] == 1
            #expect(Self.isTakenAtOnce(damaged, shape, layout: 0) == (isWhole && Self.isRow(damaged, of: shape)))
        }
    }

    private static func isTakenAtOnce(_ bytes: [UInt8], _ shape: RowShape, layout: UInt32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var view = RowView(shape: shape)
            let id = UnsafeRawBufferPointer(start: nil, count: 0)
            let isTaken = view.point(atID: id, validating: bytes, oneOf: RowLayout(of: shape, layout: layout))
            if isTaken { for index in 0..<shape.count { _ = view.value(at: index) } }
            return isTaken
        }
    }

    @Test("A row is accepted only if each of its columns conforms to the format", arguments: 0..<40 as Range<UInt64>)
    func agreesWithTheFormat(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (shape, bytes) = try Self.random(&random)
        #expect(Self.isRow(bytes, of: shape) && Self.read(bytes, shape) != nil)
        for _ in 0..<400 {
            var damaged = bytes
            let tables = min(8 + shape.count * 3, bytes.count)
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let place = Int.random(in: 8..<max(tables, 9), using: &random)
                guard place < damaged.count else { continue }
                damaged[place] =
                    Bool.random(using: &random)
                    ? UInt8.random(in: 0...11, using: &random) : damaged[place] &+ .random(in: 0...255, using: &random)
            }
            #expect((Self.read(damaged, shape) != nil) == Self.isRow(damaged, of: shape), "\(damaged)")
        }
    }

    @Test("All values read at once equal the values read one by one", arguments: 0..<40 as Range<UInt64>)
    func allAtOnce(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (shape, bytes) = try Self.random(&random)
        let longer = RowShape(columns: shape.columns + [.int("added")])
        for shape in [shape, longer] {
            let values = try #require(Self.read(bytes, shape))
            #expect(values.one == values.all)
        }
    }
}

extension RowView.BorrowedValue {
    fileprivate var owned: Value? {
        switch self {
        case .absent: nil
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .double(let value): .double(value)
        case .timestamp(let value): .timestamp(value)
        case .string(let bytes): .string(String(decoding: bytes, as: UTF8.self))
        case .bytes(let bytes): .bytes(Array(bytes))
        case .json(let bytes): .json(String(decoding: bytes, as: UTF8.self))
        }
    }
}
