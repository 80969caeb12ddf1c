internal import TidelineStore

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

    func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
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
