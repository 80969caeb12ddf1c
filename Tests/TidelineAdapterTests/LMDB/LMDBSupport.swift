import Foundation
import TidelineKeyValue
import TidelineTestSupport

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
    let errors = ErrorList()
    let done = DispatchGroup()
    for number in 0..<count {
        done.enter()
        let thread = Thread {
            do { try body(number) } catch { errors.append(error) }
            done.leave()
        }
        thread.start()
    }
    do { try done.finish() } catch { errors.append(error) }
    return errors.all
}

/// `@unchecked Sendable`: the list is only used while the lock is held.
private final class ErrorList: @unchecked Sendable {
    private let lock = NSLock()
    private var errors: [any Error] = []

    var all: [any Error] { lock.withLock { errors } }

    func append(_ error: any Error) { lock.withLock { errors.append(error) } }
}
