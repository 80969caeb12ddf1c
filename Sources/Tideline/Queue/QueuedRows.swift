internal import Synchronization
internal import TidelineWire

/// The rows that may have operations: those of the queue as a write transaction has read it, and each whose operation
/// this client has stored since.
///
/// Each write transaction of the epoch finds the rows of its queue among them; see ``SyncDatabase/commitEpoch(_:)``. An
/// operation whose row they lack was added by another client, or was removed by a transaction that then read the queue
/// and was rolled back. Both end the epoch. A read transaction must not ask: it may still see an operation that was
/// removed before the queue was read.
final class QueuedRows: Sendable {
    private struct State {
        var epoch: UInt64?
        /// `nil` if the rows are not known.
        var rows: RowFilter?
        /// The number of rows that were looked up in the queue in vain since it was read.
        var misses = 0
        /// The number of misses at which to read the queue next. At first it is 0, and only an empty queue is read.
        var nextReading = 0

        /// Returns the maximum length of the queue to read now, or `nil` if it is not to be read.
        ///
        /// All readings together take at most a small multiple of the time of the lookups in vain. They are of no use
        /// if the queue is longer, or if others commit all the time and thereby end each epoch.
        mutating func maximumToRead() -> Int? {
            guard misses >= nextReading else { return nil }
            nextReading = max(50, 2 * misses)
            return min(128 * misses, RowFilter.maximumCount)
        }
    }

    private let state = Mutex(State())
    let hasher = IDHasher(matching: .exact)

    /// Returns whether a row may have an operation in a write transaction.
    ///
    /// - Parameter read: Returns the rows of the queue if it has at most the given number of operations.
    func mayContain(_ key: String, at epoch: UInt64?, read: (Int) throws -> RowFilter?) rethrows -> Bool {
        guard let epoch else { return true }
        let hash = key.withUTF8Bytes { hasher.hash($0) }
        let (mayExist, maximum): (Bool, Int?) = state.withLock { state in
            if state.epoch != epoch { state = State(epoch: epoch) }
            guard state.rows?.contains(hash) ?? true else { return (false, nil) }
            return (true, state.maximumToRead())
        }
        guard let maximum, let rows = try read(maximum) else { return mayExist }
        state.withLock { $0 = State(epoch: epoch, rows: rows, nextReading: 50) }
        return rows.contains(hash)
    }

    /// Returns the number of the known rows, or 0 if they are not known.
    func count(at epoch: UInt64?) -> Int { state.withLock { $0.epoch == epoch ? $0.rows?.count ?? 0 : 0 } }

    /// Notes that a row which may have had an operation has none.
    func noteMiss() { state.withLock { $0.misses += 1 } }

    /// Notes that an operation of a row is about to be stored.
    func insert(_ key: String) {
        state.withLock { $0.rows?.insert(key.withUTF8Bytes { hasher.hash($0) }) }
    }
}

/// A Bloom filter of the keys of rows. Rows of different tables with equal keys count as one.
struct RowFilter {
    static let maximumCount = 1 << 16
    private var words: [UInt64]
    /// The number of rows, as far as the filter distinguishes them.
    private(set) var count = 0

    /// Creates an empty filter of 8 KiB, or of 64 KiB if the queue may not be empty. With 8,192 rows, or with
    /// `maximumCount`, it excludes about 19 of 20 others.
    init(upTo length: Int) { words = Array(repeating: 0, count: length == 0 ? 1_024 : 8_192) }

    func contains(_ hash: UInt64) -> Bool {
        let (word, bits) = place(of: hash)
        return words[word] & bits == bits
    }

    mutating func insert(_ hash: UInt64) {
        guard !contains(hash) else { return }
        let (word, bits) = place(of: hash)
        words[word] |= bits
        count += 1
    }

    private func place(of hash: UInt64) -> (word: Int, bits: UInt64) {
        (Int(truncatingIfNeeded: hash) & (words.count - 1), 1 << (hash >> 58) | 1 << (hash >> 52 & 63))
    }
}
