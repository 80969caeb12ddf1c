internal import TidelineStore

/// The keys and values of one snapshot, with keys of any length: what all that lies above an engine reads.
///
/// It is used as an existential, chosen once for each read or write body: what is done for every row is compiled for no
/// engine then, and takes one call through a table where generic code would look types up in each call.
protocol KeySource: AnyObject {
    /// Calls `body` with the value of a key; false, without calling it, when there is none.
    func find(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool

    /// Calls `body` with the keys of the range and their values, in order, until it returns ``ScanStep/stop``.
    func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws
}

/// The keys and values of one transaction.
protocol KeyStore: KeySource {
    /// Stores a value under a key, in the place of one there may be.
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws

    /// Removes a key and its value.
    /// - Returns: Whether there was one.
    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool

    /// Stores a value under a key that has none, or in the place of the one there is if `replaces` says so of it.
    /// - Returns: Whether the key had none.
    func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool
}

extension KeySource {
    /// What `body` makes of the value of a key; nil, without calling it, when there is none.
    func get<T>(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        var result: T?
        _ = try find(key) { result = try body($0) }
        return result
    }

    /// The bytes of a value, copied.
    func value(_ key: [UInt8]) throws -> [UInt8]? {
        try key.withUnsafeBytes { try get($0) { Array($0) } }
    }
}

extension KeyStore {
    func put(_ key: [UInt8], _ value: some Sequence<UInt8>) throws {
        try key.withUnsafeBytes { key in try Array(value).withUnsafeBytes { try put(key, $0) } }
    }
}
