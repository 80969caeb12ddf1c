internal import Foundation
internal import TidelineStore

private struct Definition: Codable {
    var schema: TableSchema
    var stored: [ColumnSchema]
}

/// Encodes changes as bytes: for each part a letter, the length, and the content.
struct PlainEncoder {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ change: PlainChange) throws {
        switch change {
        case .define(let schema, let stored):
            let definition = try JSONEncoder().encode(Definition(schema: schema, stored: stored))
            append("D", [UInt8](definition))
        case .put(let table, let row):
            append("P", Array(table.utf8))
            append(row.id.value)
            append("n", number(UInt64(row.values.count)))
            for value in row.values { append(value) }
        case .remove(let table, let key):
            append("R", Array(table.utf8))
            append("k", key)
        }
    }

    private mutating func append(_ value: Value) {
        switch value {
        case .null: append("-", [])
        case .bool(let value): append("b", [value ? 1 : 0])
        case .int(let value): append("i", number(UInt64(bitPattern: value)))
        case .double(let value): append("d", number(value.bitPattern))
        case .string(let text): append("s", Array(text.utf8))
        case .timestamp(let value): append("t", number(UInt64(bitPattern: value.ticks)))
        case .bytes(let content): append("x", content)
        case .json(let text): append("j", Array(text.utf8))
        }
    }

    private mutating func append(_ tag: Character, _ content: [UInt8]) {
        bytes += Array(tag.utf8) + number(UInt64(content.count))
        bytes += content
    }
}

/// Decodes changes from bytes.
struct PlainDecoder {
    private var rest: ArraySlice<UInt8>
    private let path: String

    init(_ bytes: [UInt8], path: String) {
        rest = bytes[...]
        self.path = path
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func change() throws -> PlainChange {
        let (tag, content) = try part()
        switch tag {
        case "D":
            let definition = try JSONDecoder().decode(Definition.self, from: Data(content))
            return .define(definition.schema, stored: definition.stored)
        case "P": return .put(table: String(decoding: content, as: UTF8.self), try row())
        case "R": return .remove(table: String(decoding: content, as: UTF8.self), key: Array(try part().content))
        default: throw damage
        }
    }

    private mutating func row() throws -> PlainRow {
        let id: RowID
        switch try value() {
        case .string(let text): id = .string(text)
        case .int(let number): id = .int(number)
        default: throw damage
        }
        var row = PlainRow(id: id, values: [])
        for _ in 0..<number(try part().content) { row.values.append(try value()) }
        return row
    }

    private mutating func value() throws -> Value {
        let (tag, content) = try part()
        switch tag {
        case "-": return .null
        case "b": return .bool(content.first == 1)
        case "i": return .int(Int64(bitPattern: number(content)))
        case "d": return .double(Double(bitPattern: number(content)))
        case "s": return .string(String(decoding: content, as: UTF8.self))
        case "t": return .timestamp(Timestamp(clampingTicks: Int64(bitPattern: number(content))))
        case "x": return .bytes(Array(content))
        case "j": return .json(String(decoding: content, as: UTF8.self))
        default: throw damage
        }
    }

    private mutating func part() throws -> (tag: Character, content: ArraySlice<UInt8>) {
        guard rest.count >= 9, let tag = rest.popFirst() else { throw damage }
        let count = number(rest.prefix(8))
        rest = rest.dropFirst(8)
        guard count <= UInt64(rest.count) else { throw damage }
        defer { rest = rest.dropFirst(Int(count)) }
        return (Character(Unicode.Scalar(tag)), rest.prefix(Int(count)))
    }

    private var damage: StoreError {
        StoreError(.corrupt, "a commit in the file cannot be read; restore it", path: path)
    }
}
