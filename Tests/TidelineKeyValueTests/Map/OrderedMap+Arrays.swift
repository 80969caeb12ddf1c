import TidelineKeyValue
import TidelineStore

/// The map with arrays as keys and values, which are convenient for tests.
extension OrderedMap {
    func get(_ key: [UInt8]) -> [UInt8]? { key.withUnsafeBytes { get($0) { Array($0) } } }

    mutating func put(_ key: [UInt8], _ value: [UInt8]) {
        key.withUnsafeBytes { key in value.withUnsafeBytes { put(key, $0) } }
    }

    mutating func insert(_ key: [UInt8], _ value: [UInt8]) -> Bool {
        key.withUnsafeBytes { key in value.withUnsafeBytes { put(key, $0, over: { _ in false }) } }
    }

    mutating func delete(_ key: [UInt8]) -> Bool { key.withUnsafeBytes { delete($0) } }

    func entries() -> [MapModel.Entry] {
        var entries: [MapModel.Entry] = []
        var cursor = cursor()
        while !cursor.isAtEnd {
            cursor.withEntry { entries.append(MapModel.Entry(key: Array($0), value: Array($1))) }
            cursor.advance()
        }
        return entries
    }

    func entries(in range: KeyRange, descending: Bool, limit: Int = .max) -> [MapModel.Entry] {
        var entries: [MapModel.Entry] = []
        scan(range, descending: descending) { key, value in
            entries.append(MapModel.Entry(key: Array(key), value: Array(value)))
            return entries.count < limit ? .next : .stop
        }
        return entries
    }
}
