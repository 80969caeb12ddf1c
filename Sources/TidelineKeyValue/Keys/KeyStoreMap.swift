internal import TidelineStore

/// The map of an engine's transaction, which can be changed.
///
/// This is a separate class, because a conditional conformance of a map would be looked up in each transaction.
final class KeyStoreMap<Transaction: KeyValueTransaction>: KeyMap<Transaction>, KeyStore {
    /// Returns a map as used by code that is not generic over the engine. Creating it elsewhere would require a lookup
    /// of its type.
    static func make(_ transaction: Transaction, _ overflowKeys: OverflowKey) -> any KeyStore {
        self.init(transaction, overflowKeys)
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        guard unsafe overflowKeys.isLong(key) else { return try unsafe snapshot.put(key, value) }
        let place = try unsafe place(ofLong: key)
        try unsafe place.stored.withUnsafeBytes { stored in
            try unsafe OverflowKey.stored(key, value).withUnsafeBytes { try unsafe snapshot.put(stored, $0) }
        }
    }

    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        guard unsafe overflowKeys.isLong(key) else { return try unsafe snapshot.delete(key) }
        let place = try unsafe place(ofLong: key)
        return try unsafe place.isTaken && place.stored.withUnsafeBytes { try unsafe snapshot.delete($0) }
    }

    var remembersKeys: Bool { snapshot.remembersKeys }

    func remembers(_ key: UnsafeRawBufferPointer) -> Bool {
        unsafe !overflowKeys.isLong(key) && snapshot.remembers(key)
    }

    func remember(_ key: UnsafeRawBufferPointer) {
        if unsafe !overflowKeys.isLong(key) { unsafe snapshot.remember(key) }
    }

    func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        guard unsafe overflowKeys.isLong(key) else { return try unsafe snapshot.put(key, value, over: replaces) }
        var isStored = true
        let isFound = try unsafe find(key) { isStored = try unsafe replaces($0) }
        if isStored { try unsafe put(key, value) }
        return !isFound
    }

    /// Returns the key under which an overflow key is or can be stored, with the first free number.
    private func place(ofLong key: UnsafeRawBufferPointer) throws -> (stored: [UInt8], isTaken: Bool) {
        var free = 0
        var found: [UInt8]?
        try unsafe scanEntries(ofLong: key) { stored, whole, _ in
            if unsafe whole.compare(key) == 0 { found = unsafe Array(stored) }
            let number = unsafe stored.suffix(2).reduce(0) { $0 << 8 | Int($1) }
            if number == free { free += 1 }
            return found == nil ? .next : .stop
        }
        if let found { return (found, true) }
        guard let number = UInt16(exactly: free) else {
            throw StoreError(.io, "65,536 overflow keys have the same hash; the store cannot add another one")
        }
        var stored = unsafe overflowKeys.hashedPrefix(of: key)
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe stored.append(contentsOf: $0) }
        return (stored, false)
    }
}
