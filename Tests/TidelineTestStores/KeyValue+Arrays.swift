internal import Testing
public import TidelineKeyValue
internal import TidelineStore

/// A key and its value.
public struct KeyValueEntry: Hashable, Sendable {
    public var key: [UInt8]
    public var value: [UInt8]

    public init(key: [UInt8], value: [UInt8]) { (self.key, self.value) = (key, value) }
}

/// Snapshots and transactions with arrays as keys and values, which are convenient for tests.
extension KeyValueSnapshot {
    public func value(_ key: [UInt8]) throws -> [UInt8]? {
        var value: [UInt8]?
        _ = try key.withUnsafeBytes { try get($0) { value = Array($0) } }
        return value
    }

    public func entries(in range: KeyRange, descending: Bool = false, limit: Int = .max) throws -> [KeyValueEntry] {
        var entries: [KeyValueEntry] = []
        try scan(range, descending: descending) { key, value in
            entries.append(KeyValueEntry(key: Array(key), value: Array(value)))
            return entries.count < limit ? .next : .stop
        }
        return entries
    }
}

extension KeyValueTransaction {
    public func put(_ key: [UInt8], _ value: [UInt8]) throws {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try put(key, $0) } }
    }

    public func delete(_ key: [UInt8]) throws -> Bool { try key.withUnsafeBytes { try delete($0) } }

    /// - Returns: The existing value, or `nil` if the given value was stored.
    public func insert(_ key: [UInt8], _ value: [UInt8]) throws -> [UInt8]? { try put(key, value, replaces: false) }

    /// Stores a value, whether or not the key exists.
    /// - Returns: The previous value.
    public func replace(_ key: [UInt8], by value: [UInt8]) throws -> [UInt8]? { try put(key, value, replaces: true) }

    private func put(_ key: [UInt8], _ value: [UInt8], replaces: Bool) throws -> [UInt8]? {
        try key.withUnsafeBytes { key in
            try value.withUnsafeBytes { value in
                var existing: [UInt8]?
                let isNew = try put(key, value) {
                    existing = Array($0)
                    return replaces
                }
                #expect(isNew == (existing == nil))
                return existing
            }
        }
    }
}
