public import TidelineStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The columns of a row as the members of a JSON object, for the `Codable` types with which a ``CustomDialect`` reads
/// and writes its server's JSON.
///
/// ```swift
/// struct Document: Decodable {
///     var key: String
///     var fields: JSONFields
/// }
/// ```
///
/// Numbers become integers if they are whole, and objects and arrays JSON columns. In the rows that a dialect returns,
/// text becomes a timestamp or bytes where the table defines such a column. Null is written, so that a change can clear
/// a column.
public struct JSONFields: Codable, Sendable, Hashable {
    /// The row. A member `id` is its identifier.
    public var row: Row

    /// Creates the fields of a row. Its identifier is not written.
    ///
    /// - Parameter names: The server's names of columns that it names otherwise, by the table's names.
    public init(_ row: Row, renaming names: [String: String] = [:]) {
        self.row =
            names.isEmpty ? row : row.values.reduce(into: Row(id: row.id)) { $0[names[$1.name] ?? $1.name] = $1.value }
    }

    /// Returns the columns of a table, without all other members of the object. A member of the server that has the
    /// name of a system column, such as `version` or `deleted`, is not taken for it.
    ///
    /// If the object has none of the columns, members whose names differ from theirs only in case stay, so that the
    /// client can report them.
    ///
    /// - Parameters:
    ///   - schema: The definition of the table.
    ///   - names: The server's names of columns that it names otherwise, by the table's names.
    public func row(in schema: TableSchema, renaming names: [String: String] = [:]) -> Row {
        let known = schema.columns.reduce(into: Row()) { $0[$1.name] = row[names[$1.name] ?? $1.name] }
        guard known.isEmpty else { return known }
        return row.values.reduce(into: known) { kept, member in
            guard let column = schema.columnName(like: member.name), names[column] == nil else { return }
            kept[member.name] = member.value
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: ColumnKey.self)
        row = Row()
        for name in container.allKeys {
            row[name.stringValue] = try container.decode(JSONContent.self, forKey: name).value
        }
    }

    /// Writes instants as ISO 8601 text, and bytes as base64.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ColumnKey.self)
        for (name, value) in row.values {
            let name = ColumnKey(stringValue: name)
            switch value {
            case .null: try container.encodeNil(forKey: name)
            case .bool(let value): try container.encode(value, forKey: name)
            case .int(let value): try container.encode(value, forKey: name)
            case .double(let value): try container.encode(value, forKey: name)
            case .string(let value): try container.encode(value, forKey: name)
            case .timestamp(let value): try container.encode(value.iso8601(), forKey: name)
            case .bytes(let value): try container.encode(Data(value).base64EncodedString(), forKey: name)
            case .json(let text):
                try container.encode(RecordJSON.decode(JSONContent.self, from: text), forKey: name)
            }
        }
    }
}

extension TableSchema {
    /// Returns the name of the app's column that equals a name, or differs from it only in the case of ASCII letters.
    func columnName(like name: String) -> String? {
        guard !SystemColumns.contains(name: name) else { return nil }
        let folded = name.asciiLowercased
        return columns.first { $0.name.asciiLowercased == folded }?.name
    }
}

extension JSONContent {
    /// The value as one of a column.
    fileprivate var value: Value {
        get throws {
            switch self {
            case .null: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .int(value)
            case .number(let value): .double(value)
            case .string(let value): .string(value)
            case .array, .object: .json(try RecordJSON.encode(self))
            }
        }
    }
}

extension Value {
    /// Returns the value in the form of a column's type: text of a timestamp or of bytes, and a whole number as a
    /// double. Returns `nil` if it does not fit.
    func converted(to type: ColumnType) -> Value? {
        switch (self, type) {
        case (.int(let number), .double): .double(Double(number))
        case (.string(let text), .timestamp): Timestamp(text).map { .timestamp($0) }
        case (.string(let text), .bytes): Data(base64Encoded: text).map { .bytes(Array($0)) }
        default: isNull || self.type == type ? self : nil
        }
    }
}
