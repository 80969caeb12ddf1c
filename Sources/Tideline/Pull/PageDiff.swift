internal import TidelineStore

/// The change of a row of a page to the local store.
enum PageEffect: Sendable {
    /// No change: the row is already stored, or older than the stored row.
    case none
    /// Store the row.
    case store
    /// Remove the row because the server deleted it.
    case remove(RowID)
    /// Store the row with its pending operation.
    case stashServerRow(TableOperation)
    /// Skip the row, which was deleted locally and may exist on the server again. The next pull must read from this
    /// timestamp on.
    case skip(Timestamp)
    /// Skip the row because the store rejects it.
    case report(SkippedRow)
}

/// Compares the rows of a page with the local store without writing.
struct PageDiff: Sendable {
    /// Whether a row or its operation is stored under an identifier that differs in case.
    private(set) var isRespelled = false
    private let page: PulledPage
    private let kind: PullCursor.PageKind
    private let memory: PullState
    /// The oldest operation of each row with pending operations.
    private let pending: IDTable<TableOperation>
    /// The rows whose operations ended after the page was requested.
    private let outdated: IDTable<RecentlyPushedRows.End>
    /// Whether the table was empty when the pull began and rows stored since then need not be checked.
    private let isFresh: Bool
    private let ignoresCase: Bool

    private var schema: TableSchema { page.codec.schema }
    private var columns: StampColumns { page.columns }

    /// See ``PageWriter``.
    init(
        _ held: PendingPage, _ memory: PullState, settled: RecentlyPushedRows, operations: OperationStore,
        in reader: some StoreReader
    ) throws {
        page = held.page
        kind = held.kind
        self.memory = memory
        let (table, matching) = (held.page.codec.schema.name, held.page.codec.schema.idMatching)
        let query = Query(operations.tables.operations).filter(.column("table") == .value(table)).order(by: "id")
        let found = try operations.operations(matching: query, in: reader)
        pending = IDTable(found.lazy.map { (.string($0.itemID), $0) }, matching: matching)
        let ends = settled.ends(of: table, after: held.page.askedAt)
        outdated = IDTable(ends.lazy.map { ($0.key, $0.value) }, matching: matching)
        isFresh = memory.isFresh && !memory.hasBothCases(with: held.page)
        ignoresCase = matching != .exact
    }

    /// The number of leading rows that were already received, for a table that was empty and has no local changes.
    ///
    /// Repeated rows come first in the server's order, and all others are new. `nil` if each row must be checked.
    var leadingRepeats: Int? {
        guard isFresh, pending.isEmpty, outdated.isEmpty, memory.ids == nil, memory.unfit?.isEmpty ?? true else {
            return nil
        }
        guard !memory.latest.isEmpty else { return 0 }
        guard kind != .drain else { return nil }
        return (0..<page.rows.count).first { index in !page.rows.withRow(at: index) { repeats($0) } } ?? page.rows.count
    }

    /// Returns whether this pull has already received the row in the same state.
    func repeats(_ view: borrowing RowView) -> Bool { memory.latest.contains(view, columns) }

    /// Returns the change of a row of the page.
    mutating func effect(
        of view: borrowing RowView, isDeleted: Bool, in reader: some StoreReader
    ) throws -> PageEffect {
        try requireSameSpelling(view)
        if !pending.isEmpty, let operation = pending[view.packedID] {
            note(stored: pending.spelling(of: view.packedID) ?? [], view)
            return try effect(of: view, on: operation)
        }
        if !outdated.isEmpty, let end = outdated[view.packedID], try !isNewer(view, in: reader) {
            // A row that is no longer stored was deleted. Either this page shows the deleted state, or the row exists
            // again.
            guard !isDeleted, !(end.base.map { columns.has($0, view) } ?? false),
                let updatedAt = columns.updatedAt(of: view),
                try reader.withRow(in: schema.name, id: view.key, { _ in }) == nil
            else { return .none }
            return .skip(updatedAt)
        }
        if repeats(view) { return .none }
        if isFresh, !isDeleted { return store(view, isNew: true) }
        guard let isStored = try isStored(view, in: reader) else {
            return isDeleted ? .none : store(view, isNew: true)
        }
        return isDeleted ? .remove(view.key) : isStored ? .none : store(view, isNew: false)
    }

    private func store(_ view: borrowing RowView, isNew: Bool) -> PageEffect {
        guard let unfit = memory.unfit else { return .store }
        return unfit.misfit(view, isNew: isNew).map { .report($0) } ?? .store
    }

    private func effect(of view: borrowing RowView, on operation: TableOperation) throws -> PageEffect {
        let known = try (operation.pulled ?? operation.base).map(page.codec.row)
        if let known, let stamp = known.stamp, columns.has(stamp, view), shows(known, view) { return .none }
        // A page requested before a push shows the row as it was before the push.
        if let stamp = columns.updatedAt(of: view), let newest = known?.stamp?.updatedAt, stamp < newest {
            return .none
        }
        return .stashServerRow(operation)
    }

    /// Returns whether the row is stored in the same state as in the page, or `nil` if it is not stored.
    private mutating func isStored(_ view: borrowing RowView, in reader: some StoreReader) throws -> Bool? {
        let (id, version, updatedAt) = (view.packedID, columns.versionBytes(of: view), columns.updatedAt(of: view))
        let found = try reader.withRow(in: schema.name, id: view.key) { stored -> (isSame: Bool, isRespelled: Bool) in
            let stamps = StampColumns(stored.shape)
            let isSame = version.flatMap { version in
                stamps.versionBytes(of: stored).map { $0.elementsEqual(version) }
            }
            let isRespelled = ignoresCase && !stored.packedID.elementsEqual(id)
            // If the identifier differs in case, it may be a different row with the same version and timestamp.
            return (isSame == true && stamps.updatedAt(of: stored) == updatedAt && !isRespelled, isRespelled)
        }
        if found?.isRespelled == true { isRespelled = true }
        guard memory.isRefreshing, found?.isSame == true else { return found?.isSame }
        return try reader.row(in: schema.name, id: view.key).map { shows($0, view) }
    }

    /// Returns whether a stored row in the same state has all values of the page's row. Values are compared only if the
    /// stored row may lack columns.
    private func shows(_ kept: Row, _ view: borrowing RowView) -> Bool {
        guard memory.isRefreshing else { return true }
        let shape = page.rows.shape
        for index in 0..<shape.count {
            if let value = view.value(at: index), value != kept[shape.columns[index].name] ?? .null { return false }
        }
        return true
    }

    /// Returns whether the server changed the row after the stored state.
    private func isNewer(_ view: borrowing RowView, in reader: some StoreReader) throws -> Bool {
        guard let updatedAt = columns.updatedAt(of: view), let stored = try reader.row(in: schema.name, id: view.key)
        else { return false }
        return updatedAt > stored["updatedAt"]?.timestamp ?? .min
    }

    // MARK: Spelling

    private mutating func note(stored id: [UInt8], _ view: borrowing RowView) {
        if ignoresCase, !view.packedID.elementsEqual(id) { isRespelled = true }
    }

    /// Throws ``SyncError`` with code invalidAnswer if another row of this pull has an identifier that differs only in
    /// case.
    private func requireSameSpelling(_ view: borrowing RowView) throws {
        guard let other = memory.ids?.spelling(of: view.packedID), !view.packedID.elementsEqual(other) else { return }
        let first = String(decoding: other, as: UTF8.self)
        throw SyncError(
            .invalidAnswer,
            "the server has two rows whose ids differ only in case, \(first.debugDescription) and "
                + "\(view.id.debugDescription); delete one, or define the table with idMatching: .exact",
            table: schema.name, column: "id", id: view.id, cause: SpellingConflict())
    }
}

/// An error for two rows of one pull whose identifiers differ only in case. The stored row may have the content of
/// either.
struct SpellingConflict: Error {}

extension Row {
    /// The stamp that identifies this state of the row, or `nil` if the row has no version.
    var stamp: RowStamp? { version.map { RowStamp(version: $0, updatedAt: self["updatedAt"]?.timestamp) } }
}
