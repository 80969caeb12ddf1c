internal import TidelineKeyValue
internal import TidelineStore

/// A key and its value.
struct EngineEntry: Equatable, Sendable {
    var key: [UInt8]
    var value: [UInt8]

    init(_ key: [UInt8], _ value: [UInt8]) {
        self.key = key
        self.value = value
    }
}

/// An empty engine under check.
final class EngineRun {
    /// The key space of the checks.
    static let space: [UInt8] = [0, 0, 0, 9]
    static let whole = KeyRange(prefix: space)
    /// Keys that are easily confused with each other, in order.
    static let keys: [[UInt8]] = [
        [], [0], [0, 0], [0, 1], [0, 255], [1], [65], [97], [97, 0], [97, 0, 0], [97, 97], [97, 98], [127], [127, 255],
        [128], [128, 0], [200, 1], [254], [254, 255], [255], [255, 0], [255, 255], [255, 255, 255],
    ].map { space + $0 }
    /// The keys with values that differ; the first is empty.
    static let entries = keys.indices.map { EngineEntry(keys[$0], value($0)) }

    let context: CheckContext
    private(set) var engine: any OrderedKeyValueEngine

    init(_ context: CheckContext) throws {
        self.context = context
        engine = try EngineRun.open(context)
    }

    private static func open(_ context: CheckContext) throws -> any OrderedKeyValueEngine {
        guard let open = context.harness.engine else { throw HarnessError("the harness provides no engine") }
        return try open(context.folder("engine"))
    }

    /// Returns the value of a key, by its index.
    static func value(_ index: Int) -> [UInt8] { [UInt8](repeating: UInt8(index), count: index * 3) }

    /// Stores entries in one transaction.
    func put(_ entries: [EngineEntry]) throws {
        try engine.write { writer in for entry in entries { try writer.put(entry.key, entry.value) } }
    }

    /// Fails unless the key space holds these entries, by get and by scans in both directions.
    func expect(_ entries: [EngineEntry], in reader: some KeyValueSnapshot, _ place: String) throws {
        for descending in [false, true] {
            let found = try reader.entries(in: EngineRun.whole, descending: descending)
            let expected = descending ? entries.reversed() : entries
            guard found != expected else { continue }
            let index = zip(found, expected).prefix { $0 == $1 }.count
            let (left, right) = (found.dropFirst(index).first, expected.dropFirst(index).first)
            throw CheckFailure(
                """
                \(place), entry \(index) of a \(descending ? "descending" : "ascending") scan is \
                \(left?.description ?? "missing"), expected \(right?.description ?? "none")
                """)
        }
        for entry in entries {
            let value = try reader.value(entry.key)
            try context.expect(value == entry.value, "\(place), get of \(entry.key) returns another value or none")
        }
    }

    /// Expects entries in a read, in a transaction, and after reopening.
    func expectEverywhere(_ entries: [EngineEntry]) throws {
        try engine.read { try expect(entries, in: $0, "in a read") }
        try engine.write { try expect(entries, in: $0, "in a transaction") }
        guard engine.capabilities.isPersistent else { return }
        try engine.close()
        engine = try EngineRun.open(context)
        try engine.read { try expect(entries, in: $0, "after the engine was reopened") }
    }
}

extension EngineEntry: CustomStringConvertible {
    var description: String { "\(key): \(value.count > 8 ? "\(value.count) bytes" : "\(value)")" }
}

extension [UInt8] {
    /// Whether these bytes come first in the order of keys.
    func precedes(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}

extension KeyValueSnapshot {
    /// Returns a value as an array.
    func value(_ key: [UInt8]) throws -> [UInt8]? {
        var value: [UInt8]?
        let isFound = try key.withUnsafeBytes { try get($0) { value = Array($0) } }
        guard isFound == (value != nil) else {
            throw CheckFailure("get returns \(isFound), but calls its body otherwise")
        }
        return value
    }

    /// Returns the first entries of a range.
    func entries(in range: KeyRange, descending: Bool, limit: Int = .max) throws -> [EngineEntry] {
        var entries: [EngineEntry] = []
        try scan(range, descending: descending) { key, value in
            entries.append(EngineEntry(Array(key), Array(value)))
            return entries.count < limit ? .next : .stop
        }
        return entries
    }
}

extension KeyValueTransaction {
    /// Stores a value.
    func put(_ key: [UInt8], _ value: [UInt8]) throws {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try put(key, $0) } }
    }

    /// Stores a value, replacing an existing one if `replaces` returns `true`.
    func put(_ key: [UInt8], _ value: [UInt8], over replaces: (UnsafeRawBufferPointer) throws -> Bool) throws -> Bool {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try put(key, $0, over: replaces) } }
    }

    /// Removes a key.
    func delete(_ key: [UInt8]) throws -> Bool { try key.withUnsafeBytes { try delete($0) } }
}

extension OrderedKeyValueEngine {
    /// Runs a transaction whose body throws at its end, and fails unless that error is thrown.
    func rollBack(_ body: (Transaction) throws -> Void) throws {
        do {
            try write { writer in
                try body(writer)
                throw Abort()
            }
        } catch is Abort {
            return
        }
        throw CheckFailure("a transaction returned although its body threw")
    }
}
