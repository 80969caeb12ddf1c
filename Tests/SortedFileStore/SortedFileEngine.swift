import Foundation
import Synchronization
public import TidelineKeyValue
public import TidelineStore

/// An engine as an app may write its own: a sorted array in memory, and a file with a record of each commit, which is
/// replayed when the file is opened.
///
/// A record is the length of its payload, a checksum of that, the payload, and a checksum of the payload. The payload
/// has the changes: length of key, length of value or −1 when there is none, key, value. Numbers have eight bytes.
public final class SortedFileEngine: OrderedKeyValueEngine {
    public let capabilities = StoreCapabilities(name: "sortedFile", durability: .full)
    /// The least that is allowed, so that the tests with longer keys go the long way round.
    public let maximumKeyLength = 128
    private let path: String
    private let file: FileHandle
    private let committed = Mutex(SortedSnapshot())

    /// Opens the file, or makes an empty one. A last record that was cut off, as by a crash, is dropped.
    public init(path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw StoreError(.io, "the file cannot be opened", path: path) }
        self.path = path
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StoreError(.locked, "another store has the file open; close it first", path: path)
        }
        let replayed = try replay(try failing { [UInt8](try file.readToEnd() ?? Data()) })
        committed.withLock { $0 = replayed }
    }

    public func read<T>(_ body: (SortedSnapshot) throws -> T) throws -> T { try body(committed.withLock { $0 }) }

    public func write<T>(_ body: (OverlayTransaction<SortedSnapshot>) throws -> T) throws -> T {
        var snapshot = committed.withLock { $0 }
        let transaction = OverlayTransaction(over: snapshot)
        let result = try body(transaction)
        guard !transaction.isEmpty else { return result }
        var payload: [UInt8] = []
        transaction.forEachChange { key, value in
            payload += bytes(key.count) + bytes(value?.count ?? -1) + Array(key) + (value.map { Array($0) } ?? [])
            snapshot.apply(Array(key), value.map { Array($0) })
        }
        let length = bytes(payload.count)
        let record = length + bytes(checksum(length[...])) + payload + bytes(checksum(payload[...]))
        try failing {
            // Whatever is there is what a failed commit left.
            try file.truncate(atOffset: UInt64(snapshot.end))
            try file.write(contentsOf: record)
            try file.synchronize()
        }
        snapshot.end += record.count
        committed.withLock { [snapshot] in $0 = snapshot }
        return result
    }

    public func close() throws { try failing { try file.close() } }

    private func replay(_ log: [UInt8]) throws -> SortedSnapshot {
        var snapshot = SortedSnapshot()
        while log.count - snapshot.end >= 16 {
            var rest = log[snapshot.end...]
            let damage = StoreError(.corrupt, "the record at byte \(snapshot.end) is damaged; restore it", path: path)
            let length = take(8, &rest)
            guard checksum(length) == number(take(8, &rest)), number(length) >= 0 else { throw damage }
            guard number(length) <= rest.count - 8 else { break }
            var payload = take(number(length), &rest)
            guard checksum(payload) == number(take(8, &rest)) else { throw damage }
            while !payload.isEmpty {
                let (keyCount, valueCount) = (number(take(8, &payload)), number(take(8, &payload)))
                let key = Array(take(keyCount, &payload))
                snapshot.apply(key, valueCount < 0 ? nil : Array(take(valueCount, &payload)))
            }
            snapshot.end = rest.startIndex
        }
        return snapshot
    }

    private func failing<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
            throw StoreError(.full, "the disk is full; make room and try again", path: path, cause: error)
        } catch { throw StoreError(.io, "the file cannot be read or written", path: path, cause: error) }
    }

    private func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private func bytes(_ number: Int) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }

    private func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

    /// FNV-1a.
    private func checksum(_ bytes: ArraySlice<UInt8>) -> Int {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return Int(truncatingIfNeeded: hash)
    }
}

/// What a ``SortedFileEngine`` has committed: entries in order of keys.
public struct SortedSnapshot: KeyValueSnapshot, Sendable {
    private var entries: [(key: [UInt8], value: [UInt8])] = []
    /// Where the file ends, and the next record begins.
    fileprivate var end = 0

    public func get<T>(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        let index = index(notBefore: key)
        guard index < entries.count, entries[index].key.elementsEqual(key) else { return nil }
        return try entries[index].value.withUnsafeBytes(body)
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        let first = range.lower.withUnsafeBytes { index(notBefore: $0) }
        let found = entries[first..<max(first, range.upper.withUnsafeBytes { index(notBefore: $0) })]
        for entry in descending ? Array(found.reversed()) : Array(found) {
            let step = try entry.key.withUnsafeBytes { key in try entry.value.withUnsafeBytes { try body(key, $0) } }
            if step == .stop { return }
        }
    }

    /// Stores a value, or removes the key when there is none.
    fileprivate mutating func apply(_ key: [UInt8], _ value: [UInt8]?) {
        let index = key.withUnsafeBytes { self.index(notBefore: $0) }
        if index < entries.count, entries[index].key == key { entries.remove(at: index) }
        if let value { entries.insert((key, value), at: index) }
    }

    private func index(notBefore key: UnsafeRawBufferPointer) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
