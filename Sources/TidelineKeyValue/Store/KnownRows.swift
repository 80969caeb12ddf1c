internal import TidelineStore

/// The keys of rows that a store met in its transactions and left there: so that a row which is written whole again need not
/// be looked for where that takes long.
///
/// A key is here only if its row is stored, with the id spelled as the key has it: what a row lacks that is stored with its
/// id as it was spelled, see ``RowCursor``. It is noted when the row was found, and forgotten before the row is removed; what
/// a transaction noted that comes to nothing, ``forget()`` drops with all else.
///
/// `@unchecked Sendable`: it is used within transactions only, of which a store has one at a time (``WorkGate``).
final class KnownRows: @unchecked Sendable {
    /// How many bytes it may take before it begins anew.
    private let maximumSize: Int
    /// Unchecked: nothing that is called while it is changed comes back to it.
    @exclusivity(unchecked)
    private var keys = OverlayChanges()

    init(maximumSize: Int = 8 << 20) { self.maximumSize = maximumSize }

    /// Whether the row of a key is stored, with the id spelled as in the key.
    func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        keys.count > 0 && contains(key, hash: KeyHash.of(key))
    }

    private func contains(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Bool {
        if case .stored = keys.change(of: key, hash: hash) { true } else { false }
    }

    /// Notes that the row of a key was found.
    func note(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        guard RowHeader(of: value)?.length == value.count else { return }
        if keys.size > maximumSize { forget() }
        keys.put(key, UnsafeRawBufferPointer(start: nil, count: 0), hash: KeyHash.of(key))
    }

    /// Forgets a key, the row of which is about to be removed.
    func forget(_ key: UnsafeRawBufferPointer) {
        guard keys.count > 0 else { return }
        let hash = KeyHash.of(key)
        if contains(key, hash: hash) { keys.remove(key, hash: hash) }
    }

    func forget() { keys = OverlayChanges() }
}
