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
    /// The layout of the rows that are shown as they lie.
    private let shownLayout: Int

    init(_ table: StoredTable) {
        self.table = table
        // An integer id lies in the key in another form.
        shownLayout = table.ids == .int ? -1 : table.inShapeLayout
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
    @inline(__always)
    mutating func point(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws(StoreError) {
        if let header = RowHeader(of: value), show(key: key, value: value, header) { return }
        try pointAtAny(key: key, value: value)
    }

    /// Points the view at a row that lies as it is shown, with the id that its key has; false where that is not so, or where
    /// the row is damaged.
    @inline(__always)
    private mutating func show(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, _ header: RowHeader
    ) -> Bool {
        guard header.layout == shownLayout, header.length == value.count, key.count >= KeySpace.length else {
            return false
        }
        let id = UnsafeRawBufferPointer(rebasing: key[KeySpace.length...])
        return view.point(atID: id, validating: value, columns: header.columns, isWide: header.isWide)
    }

    private mutating func pointAtAny(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
    ) throws(StoreError) {
        guard let row = StoredRow(key: key, value: value, ids: table.ids, integer: integer),
            row.header.layout < table.layouts.count
        else { throw Self.damaged(table, key) }
        do {
            if row.header.layout == table.inShapeLayout || table.layouts[row.header.layout].isCurrent {
                try view.point(atID: row.id, validating: row.row)
            } else {
                try project(row, from: table.layouts[row.header.layout])
            }
        } catch {
            throw Self.damaged(table, key)
        }
    }

    /// Points the view at a stored row if it satisfies a filter and is not passed over.
    ///
    /// A row that does not is checked as far as the filter and `isPassedOver` read it.
    /// - Parameter isPassedOver: Asked of rows that satisfy the filter where they lie, not of every such row.
    /// - Returns: Whether it does.
    /// - Throws: ``StoreError/Code/corrupt``, naming the table and the id.
    @inline(__always)
    mutating func point(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, if filter: RowFilter,
        passingOver isPassedOver: (RowBytes) throws(RowDamage) -> Bool
    ) throws(StoreError) -> Bool {
        guard filter.readsColumnsOnly, let row = RowBytes(columnsOf: value), row.header.layout == table.inShapeLayout
        else {
            try pointAtAny(key: key, value: value)
            return try matches(filter, key: key)
        }
        do throws(RowDamage) {
            guard try filter.matches(row), try !isPassedOver(row) else { return false }
        } catch {
            throw Self.damaged(table, key)
        }
        if !show(key: key, value: value, row.header) { try pointAtAny(key: key, value: value) }
        return true
    }

    /// Points the view at a stored row unless it is passed over.
    ///
    /// - Parameter isPassedOver: Asked of rows where they lie, not of every row.
    /// - Returns: Whether it was not.
    /// - Throws: ``StoreError/Code/corrupt``, naming the table and the id.
    @inline(__always)
    mutating func point(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
        passingOver isPassedOver: (RowBytes) throws(RowDamage) -> Bool
    ) throws(StoreError) -> Bool {
        if let row = RowBytes(columnsOf: value), row.header.layout == table.inShapeLayout {
            do throws(RowDamage) {
                if try isPassedOver(row) { return false }
            } catch {
                throw Self.damaged(table, key)
            }
        }
        try point(key: key, value: value)
        return true
    }

    /// Whether a stored row satisfies a filter; it is checked as far as the filter reads it.
    ///
    /// - Throws: ``StoreError/Code/corrupt``, naming the table and the id.
    @inline(__always)
    mutating func isMatch(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, of filter: RowFilter
    ) throws(StoreError) -> Bool {
        guard filter.readsColumnsOnly, let row = RowBytes(columnsOf: value), row.header.layout == table.inShapeLayout
        else {
            try pointAtAny(key: key, value: value)
            return try matches(filter, key: key)
        }
        do throws(RowDamage) {
            return try filter.matches(row)
        } catch {
            throw Self.damaged(table, key)
        }
    }

    /// Whether the row pointed at satisfies a filter, if there is one.
    func matches(_ filter: RowFilter?, key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        guard let filter else { return true }
        do throws(RowDamage) {
            return try filter.matches(view)
        } catch {
            throw Self.damaged(table, key)
        }
    }

    private mutating func project(_ parts: StoredRow, from layout: Layout) throws(StoreError) {
        var stored = RowView(shape: layout.shape)
        try stored.point(atID: parts.id, validating: parts.row)
        var rows = projection.take() ?? PackedRows(shape: table.shape)
        rows.removeAll()
        var slots: [PackedSlot] = []
        for position in layout.positions.prefix(table.shape.count) {
            slots.append(position.map { stored.slot(at: $0) } ?? .null)
        }
        let isAdded = slots.withUnsafeBufferPointer { rows.append(slots: $0, id: parts.id) }
        guard isAdded else { throw StoreError(.corrupt, "the values of a row have more than 4 GiB", table: table.name) }
        rows.withRow(at: 0) { row in
            row.withPackedBytes { bytes in row.withIDBytes { view.point(atID: $0, trusting: bytes) } }
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
