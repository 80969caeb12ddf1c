internal import TidelineStore

/// Builds the stored form of a row that cannot be copied unchanged from the batch.
struct StoredRowBuilder {
    private let table: StoredTable
    private var slots: [PackedValue] = []
    /// The row that was built last.
    private(set) var bytes: [UInt8] = []

    init(_ table: StoredTable) { self.table = table }

    /// Builds a new row. Absent columns become null.
    mutating func build(_ row: borrowing RowView, _ batch: BatchColumns, originalID: UnsafeRawBufferPointer?) throws {
        slots.removeAll(keepingCapacity: true)
        for position in batch.positions { slots.append(position.map { row.slot(at: $0) } ?? .null) }
        try unsafe pack(originalID)
    }

    /// Builds the existing row with the columns of the new one replaced.
    mutating func merge(
        _ row: borrowing RowView, _ batch: BatchColumns, over old: borrowing RowView, _ layout: Layout,
        originalID: UnsafeRawBufferPointer?
    ) throws {
        slots.removeAll(keepingCapacity: true)
        for (index, position) in batch.positions.enumerated() {
            if let position, row.tag(at: position) != .absent {
                slots.append(row.slot(at: position))
            } else {
                slots.append(layout.positions[index].map { old.slot(at: $0) } ?? .null)
            }
        }
        try unsafe pack(originalID)
    }

    /// Unsafe pointers: the slots point into rows that the callers above borrow.
    private mutating func pack(_ originalID: UnsafeRawBufferPointer?) throws {
        let layout = UInt32(table.currentLayout)
        let packed = unsafe slots.withUnsafeBufferPointer { slots in
            unsafe RowPacking(of: slots).map { packing in
                unsafe [UInt8](unsafeUninitializedCapacity: packing.length + (originalID?.count ?? 0)) { room, count in
                    unsafe packing.pack(slots, layout: layout, into: UnsafeMutableRawBufferPointer(room))
                    count = packing.length
                }
            }
        }
        guard var packed else {
            throw StoreError(.invalidValue, "the values of a row have more than 4 GiB", table: table.name)
        }
        if let originalID = unsafe originalID { unsafe packed.append(contentsOf: originalID) }
        bytes = packed
    }
}
