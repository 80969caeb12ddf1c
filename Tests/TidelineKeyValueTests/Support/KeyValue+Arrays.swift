import Testing
import TidelineKeyValue
import TidelineStore

/// Snapshots and transactions with arrays as keys and values, which are convenient for tests.
extension KeyValueSnapshot {
    func value(_ key: [UInt8]) throws -> [UInt8]? {
        var value: [UInt8]?
        _ = try key.withUnsafeBytes { try get($0) { value = Array($0) } }
        return value
    }

    func entries(in range: KeyRange, descending: Bool = false, limit: Int = .max) throws -> [MapModel.Entry] {
        var entries: [MapModel.Entry] = []
        try scan(range, descending: descending) { key, value in
            entries.append(MapModel.Entry(key: Array(key), value: Array(value)))
            return entries.count < limit ? .next : .stop
        }
        return entries
    }
}

extension KeyValueTransaction {
    func put(_ key: [UInt8], _ value: [UInt8]) throws {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try put(key, $0) } }
    }

    func delete(_ key: [UInt8]) throws -> Bool { try key.withUnsafeBytes { try delete($0) } }

    /// - Returns: The existing value, or `nil` if the given value was stored.
    func insert(_ key: [UInt8], _ value: [UInt8]) throws -> [UInt8]? { try put(key, value, replaces: false) }

    /// Stores a value, whether or not the key exists.
    /// - Returns: The previous value.
    func replace(_ key: [UInt8], by value: [UInt8]) throws -> [UInt8]? { try put(key, value, replaces: true) }

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
