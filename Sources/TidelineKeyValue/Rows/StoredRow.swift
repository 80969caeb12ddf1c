internal import TidelineStore

/// The parts of a stored row; its header is checked, and nothing of its columns yet.
///
/// Unsafe pointers: they are as long valid as the key and the value that the row was made of.
struct StoredRow {
    /// The packed row.
    let row: UnsafeRawBufferPointer
    /// The id as views have it.
    let id: UnsafeRawBufferPointer
    /// The id as it was spelled, where the key does not have it so.
    let spelledID: UnsafeRawBufferPointer?
    /// What the row's header says.
    let header: RowHeader

    /// Takes a value apart; nil when it is not a row's.
    ///
    /// - Parameter integer: Eight bytes for an integer id; where there are none, the id has no meaning.
    init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, ids: IDRule, integer: UnsafeMutableRawPointer?) {
        guard let header = RowHeader(of: value) else { return nil }
        self.header = header
        row = UnsafeRawBufferPointer(rebasing: value[..<header.length])
        let keyed = UnsafeRawBufferPointer(rebasing: key[min(KeySpace.length, key.count)...])
        let rest = UnsafeRawBufferPointer(rebasing: value[header.length...])
        guard rest.isEmpty || ids == .folded && rest.isSameFolded(as: keyed) else { return nil }
        spelledID = rest.isEmpty ? nil : rest
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
    /// Whether these bytes, with `A`–`Z` made `a`–`z`, are those.
    fileprivate func isSameFolded(as folded: UnsafeRawBufferPointer) -> Bool {
        count == folded.count && zip(self, folded).allSatisfy { ($0 &- 0x41 < 26 ? $0 | 0x20 : $0) == $1 }
    }
}

extension RowHeader {
    /// Whether behind both packed rows the same bytes follow: the id in the same spelling, or none.
    static func hasSameTail(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard let start = RowHeader(of: a)?.length, let other = RowHeader(of: b)?.length else { return false }
        return UnsafeRawBufferPointer(rebasing: a[start...]).compare(UnsafeRawBufferPointer(rebasing: b[other...])) == 0
    }
}

extension PackedSlot {
    /// A null.
    static var null: PackedSlot {
        var slot = PackedSlot()
        slot.tag = .null
        return slot
    }
}

extension RowView {
    /// The value at a position as a slot that borrows its bytes; null when the row does not name the column.
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
    /// The id in a row's key as a person reads it.
    func text(ofKey key: UnsafeRawBufferPointer) -> String {
        let id = UnsafeRawBufferPointer(rebasing: key[min(KeySpace.length, key.count)...])
        return self == .int && id.count == 8
            ? String(KeyBuilder.int(fromID: id)) : String(decoding: id, as: UTF8.self)
    }
}
