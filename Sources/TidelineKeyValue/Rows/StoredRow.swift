internal import TidelineStore

/// The parts of a stored row. Its header was checked, but not its columns.
///
/// Unsafe pointers: they are valid as long as the key and value that the row was created from.
struct StoredRow {
    /// The packed row.
    let row: UnsafeRawBufferPointer
    /// The identifier in the form that views use.
    let id: UnsafeRawBufferPointer
    /// The original form of the identifier, if it differs from the key.
    let originalID: UnsafeRawBufferPointer?
    /// The header of the row.
    let header: RowHeader

    /// Splits a value into its parts, or returns `nil` if it is not a row.
    ///
    /// - Parameter integer: Memory of eight bytes for an integer identifier. Without it, ``id`` is undefined.
    init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, ids: IDRule, integer: UnsafeMutableRawPointer?) {
        guard let header = RowHeader(of: value) else { return nil }
        self.header = header
        row = UnsafeRawBufferPointer(rebasing: value[..<header.length])
        let keyed = UnsafeRawBufferPointer(rebasing: key[min(KeySpace.length, key.count)...])
        let rest = UnsafeRawBufferPointer(rebasing: value[header.length...])
        guard rest.isEmpty || ids == .folded && rest.isSameFolded(as: keyed) else { return nil }
        originalID = rest.isEmpty ? nil : rest
        guard ids == .int else {
            id = rest.isEmpty ? keyed : rest
            return
        }
        guard keyed.count == 8 else { return nil }
        integer?.storeBytes(of: KeyBuilder.int(fromID: keyed).littleEndian, as: Int64.self)
        id = integer.map { UnsafeRawBufferPointer(start: $0, count: 8) } ?? keyed
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes, with `A`–`Z` replaced by `a`–`z`, equal `folded`.
    fileprivate func isSameFolded(as folded: UnsafeRawBufferPointer) -> Bool {
        count == folded.count && zip(self, folded).allSatisfy { ($0 &- 0x41 < 26 ? $0 | 0x20 : $0) == $1 }
    }
}

extension RowHeader {
    /// Whether the same bytes follow both packed rows: the same original identifier, or nothing.
    static func hasSameTail(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard let start = RowHeader(of: a)?.length, let other = RowHeader(of: b)?.length else { return false }
        return UnsafeRawBufferPointer(rebasing: a[start...]).compare(UnsafeRawBufferPointer(rebasing: b[other...])) == 0
    }
}

extension PackedSlot {
    /// A null value.
    static var null: PackedSlot {
        var slot = PackedSlot()
        slot.tag = .null
        return slot
    }
}

extension RowView {
    /// Returns the value at a position as a slot that borrows its bytes, or null if the column is absent.
    func slot(at index: Int) -> PackedSlot {
        let tag = tag(at: index)
        guard tag != .absent else { return .null }
        let bytes = bytes(at: index)
        var slot = PackedSlot()
        slot.tag = tag
        slot.base = bytes.baseAddress
        slot.count = bytes.count
        return slot
    }
}

extension IDRule {
    /// Returns the identifier in a row's key for display.
    func text(ofKey key: UnsafeRawBufferPointer) -> String {
        let id = UnsafeRawBufferPointer(rebasing: key[min(KeySpace.length, key.count)...])
        return self == .int && id.count == 8
            ? String(KeyBuilder.int(fromID: id)) : String(decoding: id, as: UTF8.self)
    }
}
