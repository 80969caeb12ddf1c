internal import TidelineStore
internal import TidelineWire

/// The changes of a page, or of a part of it, to the local store. They are computed without writing, so that a page
/// without changes needs no write transaction.
struct PageDiff: Sendable {
    /// The positions of the rows that are compared.
    let rows: Range<Int>
    /// The identifiers of the rows to remove because the server deleted them.
    private(set) var removed: [RowID] = []
    /// The least `updatedAt` of skipped rows that may be new. The token must not exceed it.
    private(set) var firstSkipped: Timestamp?
    /// The rows that the store rejects.
    private(set) var skipped: [SkippedRow] = []
    /// The number of rows that this pull has already received in the same state.
    private(set) var repeatedCount = 0
    /// Whether a row or its operation is stored under an identifier that differs in case.
    private(set) var isRespelled = false
    /// The positions of the rows to store.
    private var stored: [Int] = []
    /// The rows to store instead of those at positions of the page, if a known row in the same state keeps values: the
    /// values that it lacks, or, for a row with a pending operation, the known row with them.
    private var filled: [Int: Row] = [:]
    /// The operations with which the server row at a position is stored.
    private var rebased: [(operation: TableOperation, index: Int)] = []

    private let page: PulledPage
    /// The oldest operation of each row of the page with pending operations.
    private let pending: IDTable<TableOperation>
    /// The rows whose operations ended after the page was requested.
    private let outdated: IDTable<RecentlyPushedRows.End>
    /// The columns that must not be null, with their positions, if rows that do not fit are skipped.
    private let required: [(index: Int, name: String)]
    /// Whether the table was empty when the pull began and rows stored since then need not be checked.
    private let isFresh: Bool
    private let isRefreshing: Bool
    /// See ``FeedStart/fillsColumns``.
    private let fillsColumns: Bool
    private let ignoresCase: Bool
    private let mayBeStale: Bool

    private var schema: TableSchema { page.codec.schema }
    private var columns: StampColumns { page.columns }

    /// The number of rows to store.
    var storedCount: Int { stored.count }

    /// Whether the page changes nothing.
    var isEmpty: Bool { stored.isEmpty && removed.isEmpty && rebased.isEmpty }

    /// Compares a page with the local store.
    ///
    /// - Parameters:
    ///   - rows: The positions of the rows to compare.
    ///   - state: The state after the earlier pages.
    ///   - settled: The rows whose operations ended during the pull.
    ///   - mayBeStale: Whether another process or client may have pushed rows of the page since it was requested.
    ///   - epoch: See ``SyncDatabase/commitEpoch(_:)``; `nil` in a read transaction.
    /// - Throws: ``SyncError`` with code invalidAnswer for a row whose identifier differs from another's only in case.
    init(
        _ held: PendingPage, _ rows: Range<Int>, _ state: PullState, settled: RecentlyPushedRows, mayBeStale: Bool,
        operations: OperationStore, at epoch: UInt64?, in reader: some StoreReader
    ) throws {
        (self.rows, self.mayBeStale, fillsColumns) = (rows, mayBeStale, state.start.fillsColumns)
        let page = held.page
        let schema = page.codec.schema
        self.page = page
        pending = try operations.oldestOperations(of: page.rows, rows, schema, at: epoch, in: reader)
        let ends = settled.ends(of: schema.name, after: page.requestedAt)
        outdated = IDTable(ends.lazy.map { ($0.key, $0.value) }, matching: schema.idMatching)
        let columns = state.rejected == nil ? [] : schema.columns.filter { !$0.isOptional }
        required = columns.compactMap { column in page.rows.shape.index(of: column.name).map { ($0, column.name) } }
        isFresh = state.isFresh && !state.hasBothCases(with: page)
        isRefreshing = state.start.isRefreshing
        ignoresCase = schema.idMatching != .exact

        if let leading = leadingRepeats(of: held, state) {
            repeatedCount = leading - rows.lowerBound
            stored = Array(leading..<rows.upperBound)
            return
        }
        var nextDeleted = page.deleted.drop { $0 < rows.lowerBound }
        for index in rows {
            let isDeleted = nextDeleted.first == index
            if isDeleted { nextDeleted.removeFirst() }
            try page.rows.withRow(at: index) { try compare($0, at: index, isDeleted: isDeleted, state, in: reader) }
        }
    }

    /// Returns the position of the first row that was not received before, for a page of new rows into a table that was
    /// empty and has no local changes.
    ///
    /// Repeated rows come first in the server's order, and all others are new. `nil` if each row must be checked.
    private func leadingRepeats(of held: PendingPage, _ state: PullState) -> Int? {
        guard page.deleted.isEmpty, isFresh, pending.isEmpty, outdated.isEmpty, state.ids == nil, required.isEmpty,
            state.rejected?.isEmpty ?? true
        else { return nil }
        guard !state.hasNoLatest else { return rows.lowerBound }
        // In the order of identifiers, any row may be a repeated one.
        guard held.isWindow else { return nil }
        return rows.first { index in
            !page.rows.withRow(at: index) { state.hasReceived($0, columns) }
        } ?? rows.upperBound
    }

    /// Records the change of a row of the page.
    private mutating func compare(
        _ view: borrowing RowView, at index: Int, isDeleted: Bool, _ state: PullState, in reader: some StoreReader
    ) throws {
        let isRepeated = state.hasReceived(view, columns)
        if isRepeated { repeatedCount += 1 }
        try requireSameSpelling(view, state)
        let order = order(of: view)
        if !pending.isEmpty, let operation = pending[view.packedID] {
            if let id = pending.spelling(of: view.packedID), ignoresCase, !view.packedID.elementsEqual(id) {
                isRespelled = true
            }
            if try isNews(view, at: index, isDeleted: isDeleted, for: operation, order) {
                rebased.append((operation, index))
            }
            return
        }
        // A repeated row was compared with other clients' pushes when it came first.
        let isCompared = order == .afterPush || isRepeated && order == .perhapsBeforePush
        if try !isCompared && skips(view, isDeleted: isDeleted, order, in: reader) || isRepeated { return }
        let isStored = isFresh && !isDeleted ? nil : try isStored(view, at: index, in: reader)
        if isDeleted {
            if isStored != nil { removed.append(view.id) }
        } else if isStored != true {
            if let row = mismatch(view, isNew: isStored == nil, state) {
                skipped.append(row)
            } else {
                stored.append(index)
            }
        }
    }

    /// Returns the reason that the store rejects a row, or `nil` if it accepts the row, as far as known.
    ///
    /// - Parameter isNew: Whether the row is not stored yet. A column that a new row does not name has no value.
    private func mismatch(_ view: borrowing RowView, isNew: Bool, _ state: PullState) -> SkippedRow? {
        for (index, name) in required {
            let tag = view.tag(at: index)
            guard tag == .null || isNew && tag == .absent else { continue }
            return SkippedRow(table: schema.name, id: view.idText, column: name, message: "the column must not be null")
        }
        guard let rejected = state.rejected, !rejected.isEmpty else { return nil }
        return rejected[view.id]
    }

    private func order(of view: borrowing RowView) -> RowAge.PageOrder {
        if !outdated.isEmpty, let end = outdated[view.packedID] {
            return .beforePush(showsBase: end.base.map { columns.has($0, view) } ?? false)
        }
        return mayBeStale ? .perhapsBeforePush : .afterPush
    }

    /// Returns whether the server row differs from the row that is stored with a pending operation.
    private mutating func isNews(
        _ view: borrowing RowView, at index: Int, isDeleted: Bool, for operation: TableOperation,
        _ order: RowAge.PageOrder
    ) throws -> Bool {
        guard order != .beforePush(showsBase: true) else { return false }
        let base = fillsColumns ? operation.localBase ?? operation.base : operation.base
        guard let known = try (operation.pulled ?? base).map(page.codec.row), let stamp = known.stamp else {
            return true
        }
        if columns.has(stamp, view) {
            guard isRefreshing else { return false }
            let lacking = values(of: view, lackingIn: known, keepsValues: fillsColumns)
            if lacking.values.isEmpty { return false }
            if lacking.keepsOthers { filled[index] = known.merging(Row(id: nil, distinctColumns: lacking.values)) }
        }
        let local = RowAge.LocalRow.present(updatedAt: stamp.updatedAt)
        return RowAge(of: local, comparedWith: columns.updatedAt(of: view), isDeleted: isDeleted, order) != .newer
    }

    /// Returns whether the stored row is newer than the page's, or may be. Unless a push has just stored it, the next
    /// pull must read it.
    private mutating func skips(
        _ view: borrowing RowView, isDeleted: Bool, _ order: RowAge.PageOrder, in reader: some StoreReader
    ) throws -> Bool {
        let stored = try reader.withRow(in: schema.name, id: view.id) { stored in
            let stamps = StampColumns(stored.shape)
            return (stamp: stamps.stamp(of: stored), time: stamps.updatedAt(of: stored))
        }
        // The same state of the row may have columns that were defined since.
        if !isDeleted, let stamp = stored?.stamp, columns.has(stamp, view) { return false }
        let updatedAt = columns.updatedAt(of: view)
        let local = stored.map { RowAge.LocalRow.present(updatedAt: $0.time) } ?? .removed
        let age = RowAge(of: local, comparedWith: updatedAt, isDeleted: isDeleted, order)
        if age == .unknown || age == .newer && order == .perhapsBeforePush {
            firstSkipped = min(updatedAt ?? .min, firstSkipped ?? .max)
        }
        return age != .older
    }

    /// Returns whether the row is stored in the same state as in the page, or `nil` if it is not stored.
    private mutating func isStored(
        _ view: borrowing RowView, at index: Int, in reader: some StoreReader
    ) throws -> Bool? {
        // If the identifier differs in case, it may be a different row with the same version and timestamp.
        var isOtherCase = false
        let (id, version, updatedAt) = (view.packedID, columns.versionBytes(of: view), columns.updatedAt(of: view))
        let found = try reader.withRow(in: schema.name, id: view.id) { stored -> (isSame: Bool, isRespelled: Bool) in
            let stamps = StampColumns(stored.shape)
            let isSame = version.flatMap { version in
                stamps.versionBytes(of: stored).map { $0.elementsEqual(version) }
            }
            let isRespelled = ignoresCase && !stored.packedID.elementsEqual(id)
            return (isSame == true && stamps.updatedAt(of: stored) == updatedAt, isRespelled)
        }
        if found?.isRespelled == true { (isRespelled, isOtherCase) = (true, true) }
        guard isRefreshing || isOtherCase, found?.isSame == true else { return found?.isSame }
        guard let kept = try reader.row(in: schema.name, id: view.id) else { return nil }
        let lacking = values(of: view, lackingIn: kept, keepsValues: fillsColumns && !isOtherCase)
        if lacking.values.isEmpty { return true }
        if lacking.keepsOthers { filled[index] = Row(id: kept.id, distinctColumns: lacking.values) }
        return false
    }

    /// Returns the values of the page's row that a known row in the same state lacks.
    ///
    /// - Parameter keepsValues: Whether the known row keeps app values where the page's are null, because a step of a
    ///   migration may have set them. The server's next version replaces them.
    /// - Returns: The values, and whether the known row keeps others.
    private func values(
        of view: borrowing RowView, lackingIn known: Row, keepsValues: Bool
    ) -> (values: [(name: String, value: Value)], keepsOthers: Bool) {
        let shape = page.rows.shape
        var (values, keepsOthers): ([(name: String, value: Value)], Bool) = ([], false)
        for index in 0..<shape.count {
            let name = shape.columns[index].name
            guard let value = view.value(at: index), value != known[name] ?? .null else { continue }
            if keepsValues, value.isNull, !SystemColumns.contains(name: name) {
                keepsOthers = true
            } else {
                values.append((name, value))
            }
        }
        return (values, keepsOthers)
    }

    /// An error for two rows of one pull whose identifiers differ only in case. The stored row may have the content of
    /// either.
    struct SpellingConflict: Error {}

    /// Throws ``SyncError`` with code invalidAnswer if another row of this pull has an identifier that differs only in
    /// case.
    private func requireSameSpelling(_ view: borrowing RowView, _ state: PullState) throws {
        guard let other = state.ids?.spelling(of: view.packedID), !view.packedID.elementsEqual(other) else { return }
        let first = String(decoding: other, as: UTF8.self)
        throw SyncError(
            .invalidAnswer,
            WireError.differingInCase(first, view.idText), table: schema.name, column: "id", id: view.idText,
            cause: SpellingConflict())
    }

    // MARK: Writing

    /// Writes the changes.
    func write(operations: OperationStore, in writer: some StoreWriter) throws {
        do {
            try storeRows(in: writer)
        } catch let error as StoreError where error.code == .invalidValue {
            throw SyncError(
                .invalidAnswer, "a row from the server cannot be stored: \(error.message)", table: schema.name,
                column: error.column, id: error.id, cause: error)
        }
        if !removed.isEmpty { try writer.delete(ids: removed, from: schema.name) }
        for (operation, index) in rebased {
            var operation = operation
            var row = filled[index] ?? page.row(at: index)
            if page.deleted.contains(index) { row["deleted"] = true }
            operation.pulled = row.json
            try operations.save(operation, in: writer)
        }
    }

    private func storeRows(in writer: some StoreWriter) throws {
        let whole = filled.isEmpty ? stored : stored.filter { filled[$0] == nil }
        if whole.count < stored.count { try writer.upsert(stored.compactMap { filled[$0] }, into: schema.name) }
        guard !whole.isEmpty else { return }
        guard whole.count < page.rows.count else { return try writer.upsert(page.rows, into: schema.name) }
        var some = PackedRows(shape: page.rows.shape)
        if whole.count == rows.count {
            some.append(copying: page.rows, rows)
        } else {
            for index in whole { try page.rows.withRow(at: index) { try some.append(copying: $0) } }
        }
        try writer.upsert(some, into: schema.name)
    }
}
