#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A decoder that provides the columns of a row as the properties of one value.
struct RowDecoder: Decoder {
    let row: Row
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ColumnDecodingContainer(row: row))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.notNested([Any].self, at: []) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.notNested(Any.self, at: []) }

    /// Decodes a property's value from its stored form.
    fileprivate static func decode<T: Decodable>(
        _ type: T.Type, from value: Value, at path: [any CodingKey]
    ) throws -> T {
        if let scalar = try scalar(type, from: value, at: path) { return scalar }
        if case .json(let text) = value { return try nested(type, from: text, at: path) }
        return try T(from: SingleValueDecoder(value: value, codingPath: path))
    }

    /// Returns the value as one of the types that columns hold, or `nil` if `type` is not one of them.
    private static func scalar<T>(_ type: T.Type, from value: Value, at path: [any CodingKey]) throws -> T? {
        let found: Any?
        switch type {
        case is Bool.Type: found = value.bool
        case is Double.Type: found = value.double
        case is Float.Type: found = value.double.map { Float($0) }
        case is String.Type: found = value.string
        case is Timestamp.Type: found = value.timestamp
        case is Date.Type: found = value.timestamp?.date
        case is Data.Type: found = value.bytes.map { Data($0) }
        case is [UInt8].Type: found = value.bytes
        case is UUID.Type: found = value.string.flatMap { UUID(uuidString: $0) }
        case is URL.Type: found = value.string.flatMap { URL(string: $0) }
        case let integer as any FixedWidthInteger.Type: found = value.int.flatMap { exactly(integer, $0) }
        default: return nil
        }
        if let found = found as? T { return found }
        if value.isNull {
            throw DecodingError.valueNotFound(type, .init(codingPath: path, debugDescription: "the column is null"))
        }
        throw DecodingError.typeMismatch(
            type, .init(codingPath: path, debugDescription: "the column's value \(value) is not a \(type)"))
    }

    private static func exactly<I: FixedWidthInteger>(_ type: I.Type, _ value: Int64) -> Any? { I(exactly: value) }

    private static func nested<T: Decodable>(
        _ type: T.Type, from text: String, at path: [any CodingKey]
    ) throws -> T {
        do {
            return try NestedJSON.decode(type, from: text)
        } catch let error as DecodingError {
            throw error.moved(below: path)
        }
    }

    static func notNested(_ type: Any.Type, at path: [any CodingKey]) -> DecodingError {
        .typeMismatch(type, .init(codingPath: path, debugDescription: "the column has no nested structure"))
    }
}

/// Reads a column for each property. The generic method also handles the concrete types.
private struct ColumnDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: Row
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { ((row.id == nil ? [] : ["id"]) + row.columnNames).compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { row[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { row[key.stringValue]?.isNull ?? true }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard let value = row[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: [key], debugDescription: "the row has no such column"))
        }
        return try RowDecoder.decode(type, from: value, at: [key])
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { throw RowDecoder.notNested([String: Any].self, at: [key]) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw RowDecoder.notNested([Any].self, at: [key])
    }

    func superDecoder() throws -> any Decoder {
        throw RowDecoder.notNested(Any.self, at: [ColumnKey(stringValue: "super")])
    }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw RowDecoder.notNested(Any.self, at: [key]) }
}

/// Provides one column's value to a type that wraps it, such as an enum with raw values or an optional.
private struct SingleValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: Value
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw RowDecoder.notNested([String: Any].self, at: codingPath)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw RowDecoder.notNested([Any].self, at: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { value.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try RowDecoder.decode(type, from: value, at: codingPath)
    }
}

extension DecodingError {
    /// Returns the same error with `path` prepended to its coding path.
    fileprivate func moved(below path: [any CodingKey]) -> DecodingError {
        func moved(_ context: Context) -> Context {
            Context(
                codingPath: path + context.codingPath, debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        switch self {
        case .typeMismatch(let type, let context): return .typeMismatch(type, moved(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, moved(context))
        case .keyNotFound(let key, let context): return .keyNotFound(key, moved(context))
        case .dataCorrupted(let context): return .dataCorrupted(moved(context))
        @unknown default: return self
        }
    }
}
