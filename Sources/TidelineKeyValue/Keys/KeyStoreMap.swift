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
        guard overflowKeys.isLong(key) else { return try snapshot.put(key, value) }
        let place = try place(ofLong: key)
        try place.stored.withUnsafeBytes { stored in
            try OverflowKey.stored(key, value).withUnsafeBytes { try snapshot.put(stored, $0) }
        }
    }

    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        guard overflowKeys.isLong(key) else { return try snapshot.delete(key) }
        let place = try place(ofLong: key)
        return try place.isTaken && place.stored.withUnsafeBytes { try snapshot.delete($0) }
    }

    func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        guard overflowKeys.isLong(key) else { return try snapshot.put(key, value, over: replaces) }
        var isStored = true
        let isFound = try find(key) { isStored = try replaces($0) }
        if isStored { try put(key, value) }
        return !isFound
    }

    /// Returns the key under which an overflow key is or can be stored, with the first free number.
    private func place(ofLong key: UnsafeRawBufferPointer) throws -> (stored: [UInt8], isTaken: Bool) {
        var free = 0
        var found: [UInt8]?
        try scanEntries(ofLong: key) { stored, whole, _ in
            if whole.compare(key) == 0 { found = Array(stored) }
            let number = stored.suffix(2).reduce(0) { $0 << 8 | Int($1) }
            if number == free { free += 1 }
            return found == nil ? .next : .stop
        }
        if let found { return (found, true) }
        guard let number = UInt16(exactly: free) else {
            throw StoreError(.io, "65,536 overflow keys have the same hash; the store cannot add another one")
        }
        var stored = overflowKeys.hashedPrefix(of: key)
        withUnsafeBytes(of: number.bigEndian) { stored.append(contentsOf: $0) }
        return (stored, false)
    }
}
