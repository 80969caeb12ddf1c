internal import TidelineStore

/// Puts together what is stored of a row where the batch does not have it as it is to be.
struct RowBuilder {
    private let table: StoredTable
    private var slots: [PackedSlot] = []
    /// What was put together last.
    private(set) var bytes: [UInt8] = []

    init(_ table: StoredTable) { self.table = table }

    /// A new row: the columns that it does not name are null.
    mutating func build(_ row: borrowing RowView, _ batch: BatchColumns, spelledID: UnsafeRawBufferPointer?) throws {
        slots.removeAll(keepingCapacity: true)
        for position in batch.positions { slots.append(position.map { row.slot(at: $0) } ?? .null) }
        try pack(spelledID)
    }

    /// The row there is, with the columns that the new one names laid over it.
    mutating func merge(
        _ row: borrowing RowView, _ batch: BatchColumns, over old: borrowing RowView, _ layout: Layout,
        spelledID: UnsafeRawBufferPointer?
    ) throws {
        slots.removeAll(keepingCapacity: true)
        for (index, position) in batch.positions.enumerated() {
            if let position, row.tag(at: position) != .absent {
                slots.append(row.slot(at: position))
            } else {
                slots.append(layout.positions[index].map { old.slot(at: $0) } ?? .null)
            }
        }
        try pack(spelledID)
    }

    /// Unsafe pointers: the slots point into rows that the callers above borrow.
    private mutating func pack(_ spelledID: UnsafeRawBufferPointer?) throws {
        let layout = UInt32(table.currentLayout)
        let packed = slots.withUnsafeBufferPointer { slots in
            RowPacking(of: slots).map { packing in
                [UInt8](unsafeUninitializedCapacity: packing.length + (spelledID?.count ?? 0)) { room, count in
                    packing.pack(slots, layout: layout, into: UnsafeMutableRawBufferPointer(room))
                    count = packing.length
                }
            }
        }
        guard var packed else {
            throw StoreError(.invalidValue, "the values of a row have more than 4 GiB", table: table.name)
        }
        if let spelledID { packed.append(contentsOf: spelledID) }
        bytes = packed
    }
}
