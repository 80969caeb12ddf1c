internal import TidelineStore

/// A view that is pointed at one stored row after the other, of whatever layout, and shows each as a row of the table.
///
/// A stored row is its packed bytes and, where the key does not hold the id byte for byte, the id as it was spelled:
///
/// | part of the value | bytes |
/// |---|---|
/// | packed row (`RowFormat`), the layout's number in its header | as its header says |
/// | id, when it is spelled otherwise than in the key | the rest |
///
/// Unsafe pointers: the view points into the key and value it was given, which their owner keeps as long as the caller
/// uses the view, and into memory of this noncopyable value.
struct RowCursor: ~Copyable {
    /// The row pointed at.
    private(set) var view: RowView
    private let table: StoredTable
    /// Where a row of an older layout is put together.
    private var projection: PackedRows?
    /// The eight bytes of an integer id, as views have them.
    private let integer: UnsafeMutableRawPointer?

    init(_ table: StoredTable) {
        self.table = table
        view = RowView(shape: table.shape)
        integer = table.ids == .int ? .allocate(byteCount: 8, alignment: 8) : nil
    }

    deinit { integer?.deallocate() }

    /// Points the view at a stored row.
    ///
    /// - Parameters:
    ///   - key: The row's key, its space included.
    ///   - value: What is stored under it.
    /// - Throws: ``StoreError/Code/corrupt``, naming the table and the id.
    mutating func point(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws(StoreError) {
        guard let parts = StoredRow(key: key, value: value, ids: table.ids, integer: integer) else {
            throw Self.damaged(table, key)
        }
        guard parts.layout < table.layouts.count else { throw Self.damaged(table, key) }
        let layout = table.layouts[parts.layout]
        do {
            if layout.isCurrent {
                try view.point(atID: parts.id, validating: parts.row)
            } else {
                try project(parts, from: layout)
            }
        } catch {
            throw Self.damaged(table, key)
        }
    }

    private mutating func project(_ parts: StoredRow, from layout: Layout) throws(StoreError) {
        var stored = RowView(shape: layout.shape)
        try stored.point(atID: parts.id, validating: parts.row)
        var rows = projection.take() ?? PackedRows(shape: table.shape)
        rows.removeAll()
        var slots = layout.positions.map { $0.map { stored.slot(at: $0) } ?? PackedSlot(null: ()) }
        for index in slots.indices where slots[index].tag == .absent { slots[index] = PackedSlot(null: ()) }
        let isAdded = slots.withUnsafeBufferPointer { rows.append(slots: $0, id: parts.id) }
        if isAdded {
            rows.withRow(at: 0) { row in
                row.withPackedBytes { bytes in row.withIDBytes { view.point(atID: $0, trusting: bytes) } }
            }
        }
        projection = consume rows
    }

    static func damaged(_ table: StoredTable, _ key: UnsafeRawBufferPointer) -> StoreError {
        StoreError(
            .corrupt, "a stored row is damaged; restore the store from a copy, or begin anew and pull",
            table: table.name,
            id: table.ids.text(ofKey: key))
    }
}

/// The parts of a stored row; nothing of its columns is checked yet.
struct StoredRow {
    /// The packed row.
    let row: UnsafeRawBufferPointer
    /// The id as views have it.
    let id: UnsafeRawBufferPointer
    /// The number of the layout it was written with.
    let layout: Int

    /// Takes a value apart; nil when it is not a row's.
    ///
    /// - Parameter integer: Eight bytes for an integer id.
    init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, ids: IDRule, integer: UnsafeMutableRawPointer?) {
        guard let length = RowFormat.length(ofRowAt: value), length <= value.count else { return nil }
        row = UnsafeRawBufferPointer(rebasing: value[..<length])
        layout = Int(UInt32(littleEndian: value.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        let keyed = UnsafeRawBufferPointer(rebasing: key[min(KeySpace.length, key.count)...])
        if let integer {
            guard keyed.count == 8, length == value.count else { return nil }
            integer.storeBytes(of: KeyBuilder.int(fromID: keyed).littleEndian, as: Int64.self)
            id = UnsafeRawBufferPointer(start: integer, count: 8)
        } else if length == value.count {
            id = keyed
        } else {
            // Spelled in another way than in the key, and in no other respect different.
            let spelled = UnsafeRawBufferPointer(rebasing: value[length...])
            guard ids == .folded, spelled.isSameFolded(as: keyed) else { return nil }
            id = spelled
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes, with `A`–`Z` made `a`–`z`, are those.
    fileprivate func isSameFolded(as folded: UnsafeRawBufferPointer) -> Bool {
        count == folded.count && zip(self, folded).allSatisfy { ($0 &- 0x41 < 26 ? $0 | 0x20 : $0) == $1 }
    }
}

extension RowFormat {
    /// The length of the packed row with which some bytes begin; nil when its header is none.
    static func length(ofRowAt bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= headerSize, bytes[0] == narrow || bytes[0] == wide else { return nil }
        let isWide = bytes[0] == wide
        let columns = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        let payload = payloadOffset(columns: columns, wide: isWide)
        guard bytes.count >= payload else { return nil }
        guard columns > 0 else { return payload }
        let end =
            isWide
            ? Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: payload - 4, as: UInt32.self)))
            : Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: payload - 2, as: UInt16.self)))
        return payload + end
    }
}

extension PackedSlot {
    /// A null.
    init(null: Void) {
        self.init()
        tag = .null
    }
}

extension RowView {
    /// The value at a position as a slot that borrows its bytes, absent when the row does not name the column.
    func slot(at index: Int) -> PackedSlot {
        var slot = PackedSlot()
        slot.tag = tag(at: index)
        let bytes = bytes(at: index)
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
