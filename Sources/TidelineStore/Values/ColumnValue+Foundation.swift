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
    /// The text in lower case, as servers write it. Conditions with `==`, `!=`, and `isIn` also find it in upper case.
    public var columnValue: Value { .string(uuidString.lowercased()) }
    public init?(columnValue value: Value) {
        guard let text = value.string else { return nil }
        self.init(uuidString: text)
    }
}

extension ColumnValue {
    /// Another form in which a column may contain this value, or `nil` if there is only ``columnValue``: a UUID in
    /// upper case, as `uuidString` returns it, and a `Float` with the digits of a double.
    var otherForm: Value? {
        let other: Value? =
            switch Self.columnType {
            case .string: (self as? UUID).map { Value.string($0.uuidString) }
            case .double: (self as? Float).map { Value.double(Double($0)) }
            default: nil
            }
        return other == columnValue ? nil : other
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
