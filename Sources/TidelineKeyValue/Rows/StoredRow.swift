internal import TidelineStore

/// The parts of a stored row. Its header was checked, but not its columns.
///
/// Unsafe pointers: they are valid as long as the key and value that the row was created from.
@safe
struct StoredRow {
    /// The packed row.
    let row: UnsafeRawBufferPointer
    /// The identifier in the form that views use.
    let id: UnsafeRawBufferPointer
    /// The original form of the identifier, if it differs from the key.
    let originalID: UnsafeRawBufferPointer?
    let header: RowHeader

    /// Splits a value into its parts, or returns `nil` if it is not a row.
    ///
    /// - Parameter integer: Memory of eight bytes for an integer identifier. Without it, ``id`` is undefined.
    init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, ids: IDRule, integer: UnsafeMutableRawPointer?) {
        guard let header = unsafe RowHeader(of: value) else { return nil }
        self.header = header
        unsafe row = UnsafeRawBufferPointer(rebasing: value[..<header.length])
        let keyed = unsafe UnsafeRawBufferPointer(rebasing: key[min(KeySpace.length, key.count)...])
        let rest = unsafe UnsafeRawBufferPointer(rebasing: value[header.length...])
        guard unsafe rest.isEmpty || ids == .folded && rest.isSameFolded(as: keyed) else { return nil }
        unsafe originalID = rest.isEmpty ? nil : rest
        guard ids == .int else {
            unsafe id = rest.isEmpty ? keyed : rest
            return
        }
        guard keyed.count == 8 else { return nil }
        unsafe integer?.storeBytes(of: KeyBuilder.int(fromID: keyed).littleEndian, as: Int64.self)
        unsafe id = integer.map { unsafe UnsafeRawBufferPointer(start: $0, count: 8) } ?? keyed
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes, with `A`–`Z` replaced by `a`–`z`, equal `folded`.
    fileprivate func isSameFolded(as folded: UnsafeRawBufferPointer) -> Bool {
        unsafe count == folded.count && zip(self, folded).allSatisfy { $0.asciiFolded == $1 }
    }
}

extension RowHeader {
    /// Whether the same bytes follow both packed rows: the same original identifier, or nothing.
    static func hasSameTail(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard let start = unsafe RowHeader(of: a)?.length, let other = unsafe RowHeader(of: b)?.length else {
            return false
        }
        return unsafe UnsafeRawBufferPointer(rebasing: a[start...]).compare(
            UnsafeRawBufferPointer(rebasing: b[other...])) == 0
    }
}

extension PackedValue {
    static var null: PackedValue {
        var slot = PackedValue()
        slot.tag = .null
        return slot
    }
}

extension RowView {
    /// Returns the value at a position as a slot that borrows its bytes, or null if the column is absent.
    func slot(at index: Int) -> PackedValue {
        let tag = tag(at: index)
        guard tag != .absent else { return .null }
        let bytes = unsafe bytes(at: index)
        var slot = PackedValue()
        slot.tag = tag
        unsafe slot.base = bytes.baseAddress
        slot.count = bytes.count
        return slot
    }
}

extension IDRule {
    /// Returns the identifier in a row's key for display.
    func text(ofKey key: UnsafeRawBufferPointer) -> String {
        let id = unsafe UnsafeRawBufferPointer(rebasing: key[min(KeySpace.length, key.count)...])
        return unsafe self == .int && id.count == 8
            ? String(KeyBuilder.int(fromID: id)) : String(decoding: id, as: UTF8.self)
    }
}
