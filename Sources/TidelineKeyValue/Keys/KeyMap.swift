internal import TidelineStore

/// An engine's map with keys of any length, in order.
///
/// This is the only type above an engine that is generic over the engine's types. All other code uses ``KeySource`` or
/// ``KeyStore``.
class KeyMap<Snapshot: KeyValueSnapshot>: KeySource {
    let snapshot: Snapshot
    let overflowKeys: OverflowKey

    /// Creates the map of an engine's snapshot.
    required init(_ snapshot: Snapshot, _ overflowKeys: OverflowKey) {
        self.snapshot = snapshot
        self.overflowKeys = overflowKeys
    }

    final func find(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        guard unsafe overflowKeys.isLong(key) else { return try unsafe snapshot.get(key, body) }
        var isFound = false
        try unsafe scanEntries(ofLong: key) { _, whole, value in
            guard unsafe whole.compare(key) == 0 else { return .next }
            isFound = true
            try unsafe body(value)
            return .stop
        }
        return isFound
    }

    final func scan(_ range: KeyRange, descending: Bool, _ body: EntryBody) throws {
        let shortLength = overflowKeys.shortLength
        guard shortLength < .max else { return try unsafe snapshot.scan(range, descending: descending, body) }
        let stored = overflowKeys.storedRange(of: range)
        guard stored == range else {
            return try unsafe scanLongKeys(of: range, in: stored, descending: descending, body)
        }
        // Most ranges contain no overflow keys: until one is found, only the length of each key is checked.
        var firstLong: [UInt8]?
        try unsafe snapshot.scan(range, descending: descending) { key, value in
            guard key.count > shortLength else { return try unsafe body(key, value) }
            firstLong = unsafe Array(key)
            return .stop
        }
        guard let firstLong else { return }
        // No key is longer, so no other key begins with this one.
        let rest =
            descending
            ? KeyRange(from: range.lower, to: KeyRange.end(ofPrefix: firstLong))
            : KeyRange(from: firstLong, to: range.upper)
        try unsafe scanLongKeys(of: range, in: rest, descending: descending, body)
    }

    /// Calls `body` with the keys of a range, including overflow keys, that are stored in another range.
    private func scanLongKeys(of range: KeyRange, in stored: KeyRange, descending: Bool, _ body: EntryBody) throws {
        let overflowKeys = overflowKeys
        var run = LongKeyRun(descending: descending, range: range)
        try unsafe snapshot.scan(stored, descending: descending) { key, value in
            // A short key may be a prefix of a truncated bound, on the wrong side of it.
            guard run.isEmpty, unsafe !overflowKeys.isLong(key) else {
                return try unsafe run.pass(key, value, overflowKeys, isWithin: range.contains(key), body)
            }
            return unsafe range.contains(key) ? try body(key, value) : .next
        }
        _ = try unsafe run.emit(body)
    }

    /// Calls `body` with the entries for the hash of an overflow key: the stored key, the original key, and the value.
    func scanEntries(
        ofLong key: UnsafeRawBufferPointer,
        _ body: (_ stored: UnsafeRawBufferPointer, _ whole: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer)
            throws -> ScanStep
    ) throws {
        try unsafe snapshot.scan(KeyRange(prefix: overflowKeys.hashedPrefix(of: key)), descending: false) {
            stored, content in
            let parts = try unsafe overflowKeys.parts(of: stored, content)
            return try unsafe body(stored, parts.key, parts.value)
        }
    }
}

extension OverflowKey {
    /// Returns the range of stored keys that contains those of a range. A bound that is an overflow key is truncated to
    /// its stored prefix.
    fileprivate func storedRange(of range: KeyRange) -> KeyRange {
        guard range.lower.count > shortLength || range.upper.count > shortLength else { return range }
        let lower = Array(range.lower.prefix(shortLength))
        let upper =
            range.upper.count > shortLength
            ? KeyRange.end(ofPrefix: Array(range.upper.prefix(shortLength))) : range.upper
        return KeyRange(from: lower, to: upper)
    }
}

/// Entries of overflow keys with the same stored prefix, collected to be sorted by the original key.
private struct LongKeyRun {
    let descending: Bool
    let range: KeyRange
    private var beginning: [UInt8] = []
    private var entries: [(key: [UInt8], value: [UInt8])] = []

    /// Whether the run has no entries.
    private(set) var isEmpty = true

    init(descending: Bool, range: KeyRange) {
        self.descending = descending
        self.range = range
    }

    /// Collects the entry of an overflow key. Before a short key, passes the collected entries and then that key to
    /// `body`.
    ///
    /// - Parameter isWithin: Whether a short key is in the range.
    mutating func pass(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ overflowKeys: OverflowKey, isWithin: Bool,
        _ body: EntryBody
    ) throws -> ScanStep {
        let isLong = unsafe overflowKeys.isLong(key)
        if unsafe !isLong || !continues(with: key, shortLength: overflowKeys.shortLength),
            try unsafe emit(body) == .stop
        {
            return .stop
        }
        guard isLong else { return unsafe isWithin ? try body(key, value) : .next }
        try unsafe add(key, value, overflowKeys)
        return .next
    }

    private func continues(with stored: UnsafeRawBufferPointer, shortLength: Int) -> Bool {
        unsafe !isEmpty && beginning.withUnsafeBytes { unsafe stored.compare($0, first: shortLength) } == 0
    }

    private mutating func add(
        _ stored: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer, _ overflowKeys: OverflowKey
    ) throws(StoreError) {
        if isEmpty { beginning = unsafe Array(stored.prefix(overflowKeys.shortLength)) }
        isEmpty = false
        let parts = try unsafe overflowKeys.parts(of: stored, content)
        unsafe entries.append((Array(parts.key), Array(parts.value)))
    }

    /// Passes the entries of the run that are in the range to `body` in order, and begins a new run.
    mutating func emit(_ body: EntryBody) throws -> ScanStep {
        guard !isEmpty else { return .next }
        var sorted = entries
        entries = []
        isEmpty = true
        sorted.sort { a, b in unsafe a.key.withUnsafeBytes { unsafe $0.precedes(b.key) } }
        if descending { sorted.reverse() }
        for (key, value) in sorted {
            let step = try unsafe key.withUnsafeBytes { key in
                try unsafe range.contains(key) ? value.withUnsafeBytes { try unsafe body(key, $0) } : .next
            }
            if step == .stop { return .stop }
        }
        return .next
    }
}
