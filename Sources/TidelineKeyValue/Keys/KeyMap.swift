internal import TidelineStore

/// An engine's map as it looks from above: with keys of any length, in their order.
///
/// A class, as what holds one is then of one size for all engines, and the type need not be looked up in each call.
final class KeyMap<Snapshot: KeyValueSnapshot> {
    let snapshot: Snapshot
    let longKeys: LongKey

    /// The map within a snapshot of an engine.
    init(_ snapshot: Snapshot, _ longKeys: LongKey) {
        self.snapshot = snapshot
        self.longKeys = longKeys
    }

    /// The map within a snapshot of an engine whose keys have at most so many bytes.
    convenience init(_ snapshot: Snapshot, maximumKeyLength: Int) {
        self.init(snapshot, LongKey(maximum: maximumKeyLength))
    }

    /// Calls `body` with the value of a key; nil, without calling it, when there is none.
    func get<T>(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        guard longKeys.isLong(key) else { return try snapshot.get(key, body) }
        var result: T?
        try scanEntries(ofLong: key) { _, whole, value in
            guard whole.compare(key) == 0 else { return .next }
            result = try body(value)
            return .stop
        }
        return result
    }

    /// Calls `body` with the keys of the range and their values, in order, until it returns ``ScanStep/stop``.
    func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        guard longKeys.shortLength < .max else { return try snapshot.scan(range, descending: descending, body) }
        var run = LongKeyRun(descending: descending, range: range)
        var isStopped = false
        try snapshot.scan(longKeys.storedRange(of: range), descending: descending) { key, value in
            var step = ScanStep.next
            if longKeys.isLong(key) {
                if !run.continues(with: key, shortLength: longKeys.shortLength) { step = try run.emit(body) }
                if step == .next { try run.add(key, value, longKeys) }
            } else {
                step = try run.emit(body)
                // A short key may be what a bound begins with, on the wrong side of it.
                if step == .next, range.contains(key) { step = try body(key, value) }
            }
            isStopped = step == .stop
            return step
        }
        if !isStopped { _ = try run.emit(body) }
    }

    /// Calls `body` with the entries under the hash of a long key: the key as stored, the whole key, the value.
    func scanEntries(
        ofLong key: UnsafeRawBufferPointer,
        _ body: (_ stored: UnsafeRawBufferPointer, _ whole: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer)
            throws -> ScanStep
    ) throws {
        try snapshot.scan(KeyRange(prefix: longKeys.stem(of: key)), descending: false) { stored, content in
            let parts = try longKeys.parts(of: stored, content)
            return try body(stored, parts.key, parts.value)
        }
    }
}

extension LongKey {
    /// The stored keys among which those of a range are: a bound that is a long key itself begins with what is stored.
    fileprivate func storedRange(of range: KeyRange) -> KeyRange {
        guard range.lower.count > shortLength || range.upper.count > shortLength else { return range }
        let lower = Array(range.lower.prefix(shortLength))
        let upper =
            range.upper.count > shortLength
            ? KeyRange.end(ofPrefix: Array(range.upper.prefix(shortLength))) : range.upper
        return KeyRange(from: lower, to: upper)
    }
}

/// Entries of long keys that begin alike, gathered to be sorted by the whole key.
private struct LongKeyRun {
    let descending: Bool
    let range: KeyRange
    private var beginning: [UInt8] = []
    private var entries: [(key: [UInt8], value: [UInt8])] = []

    init(descending: Bool, range: KeyRange) {
        self.descending = descending
        self.range = range
    }

    func continues(with stored: UnsafeRawBufferPointer, shortLength: Int) -> Bool {
        !entries.isEmpty && beginning.withUnsafeBytes { stored.compare($0, first: shortLength) } == 0
    }

    mutating func add(
        _ stored: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer, _ longKeys: LongKey
    ) throws(StoreError) {
        if entries.isEmpty { beginning = Array(stored.prefix(longKeys.shortLength)) }
        let parts = try longKeys.parts(of: stored, content)
        entries.append((Array(parts.key), Array(parts.value)))
    }

    /// Hands the run out in order, those in the range, and begins anew.
    mutating func emit(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws -> ScanStep {
        guard !entries.isEmpty else { return .next }
        var sorted = entries
        entries = []
        sorted.sort { a, b in a.key.withUnsafeBytes { $0.precedes(b.key) } }
        if descending { sorted.reverse() }
        for (key, value) in sorted {
            let step = try key.withUnsafeBytes { key in
                try range.contains(key) ? value.withUnsafeBytes { try body(key, $0) } : .next
            }
            if step == .stop { return .stop }
        }
        return .next
    }
}
