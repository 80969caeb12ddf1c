import CLMDB
import Foundation
import TidelineKeyValue
import TidelineStore
import TidelineTestSupport

@testable import TidelineLMDB

extension Environment {
    /// The current flags of the LMDB environment.
    var flags: UInt32 {
        var flags: UInt32 = 0
        mdb_env_get_flags(handle, &flags)
        return flags
    }
}

/// Calls `body` with an engine, and closes the engine.
func withEngine<T>(_ path: String, _ options: LMDBOptions = .init(), _ body: (LMDBEngine) throws -> T) throws -> T {
    let engine = try LMDBEngine(path: path, options: options)
    let result = try body(engine)
    try engine.close()
    return result
}

/// Returns a key of a space.
func key(_ space: UInt32, _ rest: String = "") -> [UInt8] {
    withUnsafeBytes(of: space.bigEndian) { Array($0) } + Array(rest.utf8)
}

/// Returns the range of all keys of a space.
func keys(of space: UInt32) -> KeyRange { KeyRange(prefix: key(space)) }

extension KeyValueSnapshot {
    func value(_ key: [UInt8]) throws -> [UInt8]? {
        var value: [UInt8]?
        _ = try key.withUnsafeBytes { try get($0) { value = Array($0) } }
        return value
    }

    func count(_ range: KeyRange) throws -> Int {
        var count = 0
        try scan(range, descending: false) { _, _ in
            count += 1
            return .next
        }
        return count
    }

    func entries(_ range: KeyRange, descending: Bool = false, limit: Int = .max) throws -> [Entry] {
        var entries: [Entry] = []
        try scan(range, descending: descending) { key, value in
            entries.append(Entry(key: Array(key), value: Array(value)))
            return entries.count < limit ? .next : .stop
        }
        return entries
    }
}

extension LMDBEngine {
    /// Returns the number of keys of a space.
    func count(_ space: UInt32) throws -> Int { try read { try $0.count(keys(of: space)) } }
}

struct Entry: Hashable, Comparable {
    let key: [UInt8]
    let value: [UInt8]
    static func < (a: Entry, b: Entry) -> Bool { a.key.lexicographicallyPrecedes(b.key) }
}

extension KeyValueTransaction {
    func put(_ key: [UInt8], _ value: [UInt8]) throws {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try put(key, $0) } }
    }

    func delete(_ key: [UInt8]) throws -> Bool { try key.withUnsafeBytes { try delete($0) } }

    /// - Returns: The existing value, or `nil` if the given value was stored.
    func insert(_ key: [UInt8], _ value: [UInt8]) throws -> [UInt8]? {
        var existing: [UInt8]?
        _ = try key.withUnsafeBytes { key in
            try value.withUnsafeBytes { value in
                try put(key, value) {
                    existing = Array($0)
                    return false
                }
            }
        }
        return existing
    }
}

/// Runs `body` on the given number of threads at the same time, and returns the thrown errors.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) -> [any Error] {
    let errors = LockedValue<[any Error]>([])
    let done = DispatchGroup()
    for number in 0..<count {
        done.enter()
        let thread = Thread {
            do { try body(number) } catch { errors.withLock { $0.append(error) } }
            done.leave()
        }
        thread.start()
    }
    do { try done.finish() } catch { errors.withLock { $0.append(error) } }
    return errors.withLock { $0 }
}
