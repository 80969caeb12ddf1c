internal import TidelineStore

/// A view of stored rows of any layout, one after the other, each presented as a row of the table.
///
/// A stored row consists of its packed bytes and, if it differs from the key, the identifier in its original form:
///
/// | part of the value | bytes |
/// |---|---|
/// | packed row (`RowFormat`), with the layout's number in its header | as its header states |
/// | identifier, if its original form differs from the key | the rest |
///
/// Unsafe pointers: the view points into the key and value that it was given, whose owner keeps them valid while the
/// caller uses the view, and into memory of this noncopyable value.
@safe
struct RowCursor: ~Copyable {
    /// The current row.
    private(set) var view: RowView
    private let table: StoredTable
    /// The buffer in which a row of an older layout is converted.
    private var projected: ProjectedRow?
    /// The eight bytes of an integer identifier in the form that views use.
    private let integer: UnsafeMutableRawPointer?
    /// The rows that are presented without conversion.
    private let shownRows: RowLayout?

    init(_ table: StoredTable) {
        self.table = table
        // The key contains an integer identifier in another form.
        shownRows = table.ids == .int ? nil : table.wholeRows
        view = RowView(shape: table.shape)
        unsafe integer = table.ids == .int ? .allocate(byteCount: 8, alignment: 8) : nil
    }

    deinit { unsafe integer?.deallocate() }

    /// Points the view at a stored row.
    ///
    /// - Parameters:
    ///   - key: The row's key, including its space.
    ///   - value: The stored value.
    /// - Throws: ``StoreError/Code/corrupt``, naming the table and the identifier.
    @inline(__always)
    mutating func point(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws(StoreError) {
        // Most rows need no conversion and have the identifier that is in their key.
        if let shownRows, key.count >= KeySpace.length,
            unsafe view.point(
                atID: UnsafeRawBufferPointer(rebasing: key[KeySpace.length...]), validating: value, oneOf: shownRows)
        {
            return
        }
        try unsafe pointAtAny(key: key, value: value)
    }

    private mutating func pointAtAny(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
    ) throws(StoreError) {
        guard let row = unsafe StoredRow(key: key, value: value, ids: table.ids, integer: integer),
            row.header.layout < table.layouts.count
        else { throw unsafe Self.damaged(table, key) }
        do {
            if row.header.layout == table.inShapeLayout || table.layouts[row.header.layout].isCurrent {
                try unsafe view.point(atID: row.id, validating: row.row)
            } else {
                try project(row, from: table.layouts[row.header.layout])
            }
        } catch {
            throw unsafe Self.damaged(table, key)
        }
    }

    /// Points the view at a stored row unless the row is skipped.
    ///
    /// - Parameter isPassedOver: Whether to skip a row. It is called with the stored bytes, but not for every row.
    /// - Returns: Whether the row was not skipped.
    /// - Throws: ``StoreError/Code/corrupt``, naming the table and the identifier.
    @inline(__always)
    mutating func point(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
        passingOver isPassedOver: (RowBytes) throws(RowDamage) -> Bool
    ) throws(StoreError) -> Bool {
        if let row = unsafe RowBytes(columnsOf: value), row.header.layout == table.inShapeLayout {
            do throws(RowDamage) {
                if try isPassedOver(row) { return false }
            } catch {
                throw unsafe Self.damaged(table, key)
            }
        }
        try unsafe point(key: key, value: value)
        return true
    }

    /// Returns whether a stored row satisfies a filter.
    ///
    /// The row is checked only to the extent that the filter reads it. The view is undefined afterwards.
    ///
    /// - Throws: ``StoreError/Code/corrupt``, naming the table and the identifier.
    @inline(__always)
    mutating func isMatch(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, of filter: CompiledFilter
    ) throws(StoreError) -> Bool {
        switch unsafe filter.first?.answer(to: value) ?? .unknown {
        case .matches: true
        case .doesNotMatch: false
        case .unknown: try unsafe isMatch(key: key, value: value, ofWhole: filter)
        }
    }

    @inline(never)
    private mutating func isMatch(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, ofWhole filter: CompiledFilter
    ) throws(StoreError) -> Bool {
        guard filter.readsColumnsOnly, let row = unsafe RowBytes(columnsOf: value),
            row.header.layout == table.inShapeLayout
        else {
            try unsafe pointAtAny(key: key, value: value)
            return try unsafe matches(filter, key: key)
        }
        do throws(RowDamage) {
            return try filter.matches(row)
        } catch {
            throw unsafe Self.damaged(table, key)
        }
    }

    /// Returns whether the current row satisfies a filter.
    func matches(_ filter: CompiledFilter, key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try filter.matches(view)
        } catch {
            throw unsafe Self.damaged(table, key)
        }
    }

    private mutating func project(_ parts: StoredRow, from layout: Layout) throws(StoreError) {
        var stored = RowView(shape: layout.shape)
        try unsafe stored.point(atID: parts.id, validating: parts.row)
        let projected = projected ?? ProjectedRow(of: table)
        self.projected = projected
        projected.rows.removeAll()
        var slots: [PackedValue] = []
        for position in layout.positions.prefix(table.shape.count) {
            slots.append(position.map { stored.slot(at: $0) } ?? .null)
        }
        let isAdded = unsafe slots.withUnsafeBufferPointer { unsafe projected.rows.append(slots: $0, id: parts.id) }
        guard isAdded else { throw StoreError(.corrupt, "the values of a row have more than 4 GiB", table: table.name) }
        projected.rows.withRow(at: 0) { row in
            unsafe row.withPackedBytes { bytes in
                unsafe row.withIDBytes { unsafe view.point(atID: $0, trusting: bytes) }
            }
        }
    }

    static func damaged(_ table: StoredTable, _ key: UnsafeRawBufferPointer) -> StoreError {
        unsafe StoreError(
            .corrupt, "a stored row is damaged; restore the store from a backup, or delete it and pull again",
            table: table.name,
            id: table.ids.text(ofKey: key))
    }
}

/// A converted row. It is an object because few cursors need one, which keeps the others smaller.
private final class ProjectedRow {
    var rows: PackedRows

    init(of table: StoredTable) { rows = PackedRows(shape: table.shape) }
}
