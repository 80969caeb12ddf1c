#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The identifier of a record of one type, so that the identifier of a list cannot stand where that of an item is
/// expected.
///
/// ```swift
/// struct TodoItem: Identifiable {
///     var id: ID<TodoItem> = .new
///     var list: TodoList.ID?
/// }
/// ```
///
/// It wraps the text that the table stores and the server receives. `==` compares that text byte by byte. A table with
/// ``TableSchema/IDMatching/asciiCaseInsensitive`` finds one row by identifiers that differ in ASCII case.
public struct ID<Record>: Sendable {
    /// The identifier as stored and sent.
    public let text: String

    /// Creates an identifier from its text.
    @inlinable
    public init(_ text: String) { self.text = text }

    /// A new identifier: a random UUID in lower case.
    public static var new: ID { ID(UUID().uuidString.lowercased()) }

    /// The identifier of a row.
    public var rowID: RowID { .string(text) }
}

extension ID: Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    public static func == (a: ID, b: ID) -> Bool { a.rowID == b.rowID }
    public func hash(into hasher: inout Hasher) { hasher.combine(rowID) }
    public var description: String { text }
    public init(stringLiteral value: String) { self.init(value) }
}

extension ID: Codable {
    public init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension ID: ColumnValue {
    public static var columnType: ColumnType { .string }
    public var columnValue: Value { .string(text) }
    public init?(columnValue value: Value) {
        guard let text = value.string else { return nil }
        self.init(text)
    }
    @inlinable
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? {
        row.string(at: index).map { Self($0) }
    }
}
