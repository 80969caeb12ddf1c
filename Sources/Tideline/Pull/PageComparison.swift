internal import TidelineStore

/// What a row of a page changes in the local store.
enum PageEffect: Sendable {
    /// Nothing: it is known, or older than what is stored.
    case none
    /// It is stored.
    case store
    /// The server deleted it, and so it is removed.
    case remove(RowID)
    /// It has a pending operation, and is kept beside that.
    case keepBeside(TableOperation)
    /// It was deleted here and may be there again: the next pull must see it, from this instant on.
    case passOver(Timestamp)
    /// The store does not take it.
    case skip(SkippedRow)
}

/// Holds the rows of a page against the local store, by reading alone.
struct PageComparison: Sendable {
    /// Whether a row is stored, or has its operation, under an id that differs in case.
    private(set) var isRespelled = false
    private let page: PulledPage
    private let kind: PullCursor.PageKind
    private let memory: PullMemory
    /// The oldest operation of each row with pending operations.
    private let pending: IDTable<TableOperation>
    /// The rows whose operations ended after the page was asked for.
    private let outdated: IDTable<SettledRows.End>
    /// Whether the table had no rows when the pull began and what is stored since need not be looked at.
    private let isFresh: Bool
    private let ignoresCase: Bool

    private var schema: TableSchema { page.codec.schema }
    private var columns: StampColumns { page.columns }

    /// See ``PageApplication``.
    init(
        _ held: HeldPage, _ memory: PullMemory, settled: SettledRows, operations: OperationStore,
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

    /// For a table that was empty and that nobody edits: how many rows at the beginning came before, which are first in
    /// the server's order. All others are new. Nil when each row must be looked at.
    var leadingRepeats: Int? {
        guard isFresh, pending.isEmpty, outdated.isEmpty, memory.ids == nil, memory.unfit?.isEmpty ?? true else {
            return nil
        }
        guard !memory.latest.isEmpty else { return 0 }
        guard kind != .drain else { return nil }
        return (0..<page.rows.count).first { index in !page.rows.withRow(at: index) { repeats($0) } } ?? page.rows.count
    }

    /// Whether the row came before in this pull, as it is now.
    func repeats(_ view: borrowing RowView) -> Bool { memory.latest.contains(view, columns) }

    /// What a row of the page changes.
    mutating func effect(
        of view: borrowing RowView, isDeleted: Bool, in reader: some StoreReader
    ) throws -> PageEffect {
        try requireSameSpelling(view)
        if !pending.isEmpty, let operation = pending[view.packedID] {
            note(stored: pending.spelling(of: view.packedID) ?? [], view)
            return try effect(of: view, on: operation)
        }
        if !outdated.isEmpty, let end = outdated[view.packedID], try !isNewer(view, in: reader) {
            // A row that is no longer here was deleted: in the state that the page shows, or it is there again.
            guard !isDeleted, !(end.base.map { columns.has($0, view) } ?? false),
                let updatedAt = columns.updatedAt(of: view),
                try reader.withRow(in: schema.name, id: view.key, { _ in }) == nil
            else { return .none }
            return .passOver(updatedAt)
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
        return unfit.misfit(view, isNew: isNew).map { .skip($0) } ?? .store
    }

    private func effect(of view: borrowing RowView, on operation: TableOperation) throws -> PageEffect {
        let known = try (operation.pulled ?? operation.base).map(page.codec.row)
        if let known, let stamp = known.stamp, columns.has(stamp, view), shows(known, view) { return .none }
        // A page that was asked for before a push shows the row as it was before the push's answer.
        if let stamp = columns.updatedAt(of: view), let newest = known?.stamp?.updatedAt, stamp < newest {
            return .none
        }
        return .keepBeside(operation)
    }

    /// Whether the row is stored in the state in which the page shows it; nil when it is not stored at all.
    private mutating func isStored(_ view: borrowing RowView, in reader: some StoreReader) throws -> Bool? {
        let (id, version, updatedAt) = (view.packedID, columns.versionBytes(of: view), columns.updatedAt(of: view))
        let found = try reader.withRow(in: schema.name, id: view.key) { stored -> (isSame: Bool, isRespelled: Bool) in
            let stamps = StampColumns(stored.shape)
            let isSame = version.flatMap { version in
                stamps.versionBytes(of: stored).map { $0.elementsEqual(version) }
            }
            let isRespelled = ignoresCase && !stored.packedID.elementsEqual(id)
            // A row of another spelling may be another row, of the same statement.
            return (isSame == true && stamps.updatedAt(of: stored) == updatedAt && !isRespelled, isRespelled)
        }
        if found?.isRespelled == true { isRespelled = true }
        guard memory.isRefreshing, found?.isSame == true else { return found?.isSame }
        return try reader.row(in: schema.name, id: view.key).map { shows($0, view) }
    }

    /// Whether a row that is kept in the page's state has all that the page shows; only looked at where it may not.
    private func shows(_ kept: Row, _ view: borrowing RowView) -> Bool {
        guard memory.isRefreshing else { return true }
        let shape = page.rows.shape
        for index in 0..<shape.count {
            if let value = view.value(at: index), value != kept[shape.columns[index].name] ?? .null { return false }
        }
        return true
    }

    /// Whether the server changed the row after the state that is stored.
    private func isNewer(_ view: borrowing RowView, in reader: some StoreReader) throws -> Bool {
        guard let updatedAt = columns.updatedAt(of: view), let stored = try reader.row(in: schema.name, id: view.key)
        else { return false }
        return updatedAt > stored["updatedAt"]?.timestamp ?? .min
    }

    // MARK: Spelling

    private mutating func note(stored id: [UInt8], _ view: borrowing RowView) {
        if ignoresCase, !view.packedID.elementsEqual(id) { isRespelled = true }
    }

    /// - Throws: ``SyncError`` with code invalidAnswer when another row of this pull has an id that differs in case.
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

/// Two rows of one pull have ids that differ only in case. What is stored may be the content of either.
struct SpellingConflict: Error {}

extension Row {
    /// What tells this state of the row from another; nil without a version.
    var stamp: RowStamp? { version.map { RowStamp(version: $0, updatedAt: self["updatedAt"]?.timestamp) } }
}
