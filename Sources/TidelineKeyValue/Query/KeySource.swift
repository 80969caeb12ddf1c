internal import TidelineStore

/// The keys and values of one snapshot, as a query reads them.
///
/// Queries use it as an existential, chosen once for each: what is done for every row is compiled for no engine then,
/// and takes one call through a table where generic code would ask for the layout of its own types.
protocol KeySource {
    /// Calls `body` with the keys of the range and their values, in order, until it returns ``ScanStep/stop``.
    func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws

    /// Calls `body` with the value of a key; false, without calling it, when there is none.
    func find(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool
}

extension KeyMap: KeySource {
    func find(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try get(key, body) != nil
    }
}
