#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An encoder that collects the properties of one value as the columns of a row.
final class RowEncoder: Encoder {
    var row = Row()
    /// The first error that could not be thrown where it occurred.
    var failure: EncodingError?
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(ColumnContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        refuse(at: [])
        return DiscardingContainer<ColumnKey>(encoder: SingleValueEncoder(codingPath: []))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        refuse(at: [])
        return SingleValueEncoder(codingPath: [])
    }

    fileprivate func refuse(at path: [any CodingKey]) {
        let message = "only a structure of plain properties can be encoded as a row"
        failure = failure ?? .invalidValue(row, .init(codingPath: path, debugDescription: message))
    }

    fileprivate func set(_ value: Value, for key: any CodingKey) throws {
        if key.stringValue == "id" {
            switch value {
            case .null, .string, .int: break
            default:
                throw EncodingError.invalidValue(
                    value, .init(codingPath: [key], debugDescription: "an id must be a string or an integer"))
            }
        }
        row[key.stringValue] = value
    }

    /// Returns the stored form of a property's value.
    fileprivate static func value<T: Encodable>(of value: T, at path: [any CodingKey]) throws -> Value {
        switch value {
        case let bool as Bool: return .bool(bool)
        case let double as Double: return .double(double)
        case let float as Float: return .double(float.shortestDouble)
        case let string as String: return .string(string)
        case let timestamp as Timestamp: return .timestamp(timestamp)
        case let date as Date: return .timestamp(Timestamp(date))
        case let data as Data: return .bytes(Array(data))
        // The check of the static type is needed because an empty array of any type can be cast to an array of bytes.
        case let bytes as [UInt8] where T.self == [UInt8].self: return .bytes(bytes)
        case let uuid as UUID: return .string(uuid.uuidString.lowercased())
        case let url as URL: return .string(url.absoluteString)
        case let integer as any BinaryInteger:
            guard let int = Int64(exactly: integer) else {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: path, debugDescription: "\(integer) does not fit in a 64-bit integer"))
            }
            return .int(int)
        default: return try composite(value, at: path)
        }
    }

    private static func composite<T: Encodable>(_ value: T, at path: [any CodingKey]) throws -> Value {
        let encoder = SingleValueEncoder(codingPath: path)
        try value.encode(to: encoder)
        if let value = encoder.value, !encoder.isNested { return value }
        do {
            return .json(try NestedJSON.encode(value))
        } catch EncodingError.invalidValue(let culprit, var context) {
            context = .init(
                codingPath: path + context.codingPath, debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
            throw EncodingError.invalidValue(culprit, context)
        }
    }
}

/// Sets a column for each property. The generic methods also handle the concrete types.
private struct ColumnContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: RowEncoder
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) throws { try encoder.set(.null, for: key) }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try encoder.set(RowEncoder.value(of: value, at: [key]), for: key)
    }

    /// Stores `nil` as null, because an upsert must clear the column rather than keep its value.
    private mutating func encodeOrNull<T: Encodable>(_ value: T?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { try encodeOrNull(value, key) }

    // For these types the protocol has default implementations, which would omit `nil`.
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOrNull(value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOrNull(value, key) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(DiscardingContainer(encoder: refusing(key)))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        DiscardingContainer<ColumnKey>(encoder: refusing(key))
    }

    mutating func superEncoder() -> any Encoder { refusing(ColumnKey(stringValue: "super")) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { refusing(key) }

    private func refusing(_ key: any CodingKey) -> SingleValueEncoder {
        encoder.refuse(at: [key])
        return SingleValueEncoder(codingPath: [key])
    }
}

/// Determines whether a value wraps a single value, such as an enum with raw values, or has a nested structure.
final class SingleValueEncoder: Encoder, SingleValueEncodingContainer {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private(set) var value: Value?
    private(set) var isNested = false

    init(codingPath: [any CodingKey]) { self.codingPath = codingPath }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        isNested = true
        return KeyedEncodingContainer(DiscardingContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        isNested = true
        return DiscardingContainer<ColumnKey>(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() throws { value = .null }
    func encode<T: Encodable>(_ value: T) throws { self.value = try RowEncoder.value(of: value, at: codingPath) }
}

/// Discards the content of a structure, which the JSON encoder encodes as a whole.
private struct DiscardingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol, UnkeyedEncodingContainer {
    let encoder: SingleValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { 0 }

    mutating func encodeNil() throws {}
    mutating func encodeNil(forKey key: Key) throws {}
    mutating func encode<T: Encodable>(_ value: T) throws {}
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {}

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> { KeyedEncodingContainer(DiscardingContainer<NestedKey>(encoder: encoder)) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> { nestedContainer(keyedBy: keyType) }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        DiscardingContainer<ColumnKey>(encoder: encoder)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nestedUnkeyedContainer() }
    mutating func superEncoder() -> any Encoder { encoder }
    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

/// The JSON of values inside a column: instants as ISO 8601 to 100 ns, bytes as base64, and sorted keys.
enum NestedJSON {
    /// Returns the text of a value that is a JSON array or object.
    ///
    /// - Throws: `EncodingError`, also if the value has another JSON form.
    static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in try Timestamp(date).encode(to: encoder) }
        let text = try text(of: value, encoder)
        guard text.hasPrefix("{") || text.hasPrefix("[") else {
            let message = "\(type(of: value)) is neither a single value nor a structure"
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: message))
        }
        return text
    }

    /// Returns the same text for equal values, also for sets and dictionaries, whose elements have no order.
    fileprivate static func text(of value: some Encodable, _ encoder: JSONEncoder) throws -> String {
        if let text = try (value as? any UnorderedJSON)?.sortedText(encoder) { return text }
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    fileprivate static func array(of texts: [String]) -> String {
        "[\(texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: ","))]"
    }

    static func decode<T: Decodable>(_ type: T.Type = T.self, from text: String) throws -> T {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in try Timestamp(from: decoder).date }
        return try decoder.decode(type, from: Data(text.utf8))
    }
}

/// A collection whose elements are encoded in an order that differs between equal values and between processes.
private protocol UnorderedJSON {
    /// Returns the JSON with its elements in the order of their text, or `nil` if the encoder sorts them.
    func sortedText(_ encoder: JSONEncoder) throws -> String?
}

extension Set: UnorderedJSON where Element: Encodable {
    fileprivate func sortedText(_ encoder: JSONEncoder) throws -> String? {
        NestedJSON.array(of: try map { try NestedJSON.text(of: $0, encoder) })
    }
}

extension Dictionary: UnorderedJSON where Key: Encodable, Value: Encodable {
    fileprivate func sortedText(_ encoder: JSONEncoder) throws -> String? {
        // Without keys that are texts, it is an array of keys and values in turn.
        guard let pair = first, try encoder.encode([pair.key: pair.value]).first == UInt8(ascii: "[") else {
            return nil
        }
        return NestedJSON.array(
            of: try map { "\(try NestedJSON.text(of: $0, encoder)),\(try NestedJSON.text(of: $1, encoder))" })
    }
}
