#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Date: ColumnValue {
    public static var columnType: ColumnType { .timestamp }
    public var columnValue: Value { .timestamp(Timestamp(self)) }
    public init?(columnValue value: Value) {
        guard let timestamp = value.timestamp else { return nil }
        self = timestamp.date
    }
}

extension Data: ColumnValue {
    public static var columnType: ColumnType { .bytes }
    public var columnValue: Value { .bytes(Array(self)) }
    public init?(columnValue value: Value) {
        guard let bytes = value.bytes else { return nil }
        self.init(bytes)
    }
}

extension UUID: ColumnValue {
    public static var columnType: ColumnType { .string }
    /// The text in lower case, as servers write it. Columns other than `id` compare texts byte by byte: a text in upper
    /// case, such as `uuidString` returns, is another one.
    public var columnValue: Value { .string(uuidString.lowercased()) }
    public init?(columnValue value: Value) {
        guard let text = value.string else { return nil }
        self.init(uuidString: text)
    }
}

extension URL: ColumnValue {
    public static var columnType: ColumnType { .string }
    public var columnValue: Value { .string(absoluteString) }
    public init?(columnValue value: Value) {
        guard let text = value.string else { return nil }
        self.init(string: text)
    }
}
