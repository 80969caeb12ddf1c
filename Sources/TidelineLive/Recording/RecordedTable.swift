internal import TidelineStore

/// Records the rows that one transaction changes in tables under observation.
final class ChangeRecorder {
    private let hub: ObservationHub
    /// The tables that the transaction has changed; `nil` for those that nobody observes.
    private var tables: [(name: String, recorded: RecordedTable?)] = []

    init(_ hub: ObservationHub) { self.hub = hub }

    /// Returns the records of a table, or `nil` if nobody observes it.
    func table(_ name: String, in reader: some StoreReader) throws -> RecordedTable? {
        for table in tables where table.name == name { return table.recorded }
        let recorded = try hub.recordedTable(name, in: reader)
        tables.append((name, recorded))
        return recorded
    }

    /// The tables under observation that the transaction has changed.
    var recorded: [RecordedTable] { tables.compactMap(\.recorded) }
}

/// The rows of one table that a transaction changes, each as it was before the transaction.
final class RecordedTable {
    let name: String
    let shape: RowShape
    private let foldsID: Bool
    private let maximumCount: Int
    private var before: PackedRows
    private var rows: [(id: RowID, before: Int?)] = []
    private var known: Set<RowID> = []
    /// Whether the rows are not recorded individually: there are too many, or the definition of the table changed.
    private(set) var isReadAgain: Bool

    /// The maximum size of the rows before the transaction, and of those after it.
    private static let maximumByteCount = 16 << 20

    init(_ name: String, shape: RowShape, foldsID: Bool, maximumCount: Int, isReadAgain: Bool) {
        self.name = name
        self.shape = shape
        self.foldsID = foldsID
        self.maximumCount = maximumCount
        self.isReadAgain = isReadAgain
        before = PackedRows(shape: shape)
    }

    /// Records a row before it changes, unless it is already recorded.
    func record(_ id: RowID, in reader: some StoreReader) throws {
        guard !isReadAgain, insert(id) else { return }
        let place = before.count
        let isStored = try reader.withRow(in: name, id: id) { try before.append(copying: $0) } != nil
        rows.append((id, isStored ? place : nil))
        if before.byteCount > Self.maximumByteCount { readAgain() }
    }

    /// Records a row before it is deleted.
    func record(_ row: borrowing RowView) throws {
        let id = row.id
        guard !isReadAgain, insert(id) else { return }
        try before.append(copying: row)
        rows.append((id, before.count - 1))
        if before.byteCount > Self.maximumByteCount { readAgain() }
    }

    /// Records no individual rows if there are more than the maximum.
    func expect(_ count: Int) {
        if rows.count + count > maximumCount { readAgain() }
    }

    private func insert(_ id: RowID) -> Bool {
        var key = id
        if foldsID, case .string(let text) = id { key = .string(text.asciiLowercased) }
        guard known.insert(key).inserted else { return false }
        guard rows.count < maximumCount else {
            readAgain()
            return false
        }
        return true
    }

    private func readAgain() {
        isReadAgain = true
        (rows, known) = ([], [])
        before.removeAll()
    }

    /// Returns the changed rows, each before and after the transaction, and removes them from this object; `nil` if
    /// they are not recorded individually.
    func takeChanges(in reader: some StoreReader) throws -> TableChanges? {
        guard !isReadAgain else { return nil }
        var after = PackedRows(shape: shape)
        var changes: [TableChanges.Change] = []
        for row in rows {
            let place = after.count
            let isStored = try reader.withRow(in: name, id: row.id) { try after.append(copying: $0) } != nil
            guard after.byteCount <= Self.maximumByteCount else {
                readAgain()
                return nil
            }
            switch (row.before, isStored) {
            case (nil, false): continue
            case (let old?, true):
                let isSame = before.withRow(at: old) { old in after.withRow(at: place) { old.isSameRow(as: $0) } }
                if isSame {
                    after.truncate(toCount: place)
                    continue
                }
            default: break
            }
            changes.append(.init(before: row.before, after: isStored ? place : nil))
        }
        var rows = PackedRows(shape: shape)
        swap(&rows, &before)
        return TableChanges(name, changes, before: rows, after: after)
    }
}

/// The rows of one table that a transaction changed.
final class TableChanges {
    /// The positions of a row before and after the transaction, each `nil` if there was no such row.
    struct Change {
        let before: Int?
        let after: Int?
    }

    let name: String
    let rows: [Change]
    private let before: PackedRows
    private let after: PackedRows

    init(_ name: String, _ rows: [Change], before: consuming PackedRows, after: consuming PackedRows) {
        self.name = name
        self.rows = rows
        self.before = before
        self.after = after
    }

    /// Calls `body` with a row before the transaction, if it existed.
    func withBefore<T>(_ row: Int, _ body: (borrowing RowView) throws -> T) rethrows -> T? {
        try rows[row].before.map { try before.withRow(at: $0, body) }
    }

    /// Calls `body` with a row after the transaction, if it exists.
    func withAfter<T>(_ row: Int, _ body: (borrowing RowView) throws -> T) rethrows -> T? {
        try rows[row].after.map { try after.withRow(at: $0, body) }
    }
}

extension RowView {
    /// Returns whether both rows have the same identifier and the same bytes.
    fileprivate borrowing func isSameRow(as other: borrowing RowView) -> Bool {
        unsafe packedID.isSame(as: other.packedID) && packed.isSame(as: other.packed)
    }
}
