internal import TidelineStore

/// A closure that receives a key and its value, which are borrowed until it returns.
typealias EntryBody = (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep

/// The keys and values of one snapshot, with keys of any length, as read by all code above an engine.
///
/// It is used as an existential that is created once for each read or write body. Code that runs for every row is
/// therefore not generic over the engine and takes one witness table call, where unspecialized generic code would look
/// up types in each call.
protocol KeySource: AnyObject {
    /// Calls `body` with the value for a key, or returns `false` if there is none.
    func find(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool

    /// Calls `body` with the keys of the range and their values, in order, until it returns ``ScanStep/stop``.
    func scan(_ range: KeyRange, descending: Bool, _ body: EntryBody) throws
}

/// The keys and values of one transaction, with keys of any length; the methods are those of ``KeyValueTransaction``.
protocol KeyStore: KeySource {
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws
    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool
    var remembersKeys: Bool { get }
    func remembers(_ key: UnsafeRawBufferPointer) -> Bool
    func remember(_ key: UnsafeRawBufferPointer)
    func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool
}

extension KeySource {
    /// Returns the result of `body` for the value of a key, or `nil` if there is none.
    func get<T>(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        var result: T?
        _ = try unsafe find(key) { result = unsafe try body($0) }
        return result
    }

    /// Returns a copy of the bytes of a value.
    func value(_ key: [UInt8]) throws -> [UInt8]? {
        try unsafe key.withUnsafeBytes { try unsafe get($0) { unsafe Array($0) } }
    }

    /// Returns whether a range contains no key.
    func isEmpty(_ range: KeyRange) throws -> Bool {
        var isEmpty = true
        try unsafe scan(range, descending: false) { _, _ in
            isEmpty = false
            return .stop
        }
        return isEmpty
    }
}

extension KeyStore {
    /// Remembers the key of a row that was found, if it is stored without a separate original identifier, that is, with
    /// the identifier exactly as in the key; see ``RowCursor``. Such a row can be replaced completely without a lookup,
    /// because its later values are stored in the same way until it is deleted.
    func rememberRow(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if unsafe RowHeader(of: value)?.length == value.count { unsafe remember(key) }
    }

    func put(_ key: [UInt8], _ value: some Sequence<UInt8>) throws {
        try unsafe key.withUnsafeBytes { key in try unsafe Array(value).withUnsafeBytes { try unsafe put(key, $0) } }
    }
}

/// Keys whose scans end with an error when the time of a reader is over.
final class TimedKeys: KeySource {
    private let base: any KeySource
    private let limit: QueryTimeLimit
    private var passed = 0

    /// The number of keys between two looks at the clock.
    private static let interval = 64

    init(_ base: any KeySource, _ limit: QueryTimeLimit) {
        self.base = base
        self.limit = limit
    }

    func find(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try pass()
        return try unsafe base.find(key, body)
    }

    func scan(_ range: KeyRange, descending: Bool, _ body: EntryBody) throws {
        try unsafe base.scan(range, descending: descending) { key, value in
            try pass()
            return try unsafe body(key, value)
        }
    }

    private func pass() throws(StoreError) {
        if passed.isMultiple(of: Self.interval) { try limit.check() }
        passed += 1
    }
}
