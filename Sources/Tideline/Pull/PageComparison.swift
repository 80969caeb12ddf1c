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
}

/// Holds the rows of a page against the local store, by reading alone.
struct PageComparison: Sendable {
    private let page: PulledPage
    private let known: [String: String]
    private let isFresh: Bool
    private let comparesContent: Bool
    /// The oldest operation of each row with pending operations, by the row's key.
    private let pending: [String: TableOperation]
    /// The rows whose operations ended after the page was asked for.
    private let outdated: [String: SettledRows.End]
    private let versionColumn: Int?

    private var schema: TableSchema { page.codec.schema }

    /// See ``PageApplication``.
    init(
        _ page: PulledPage, known: [String: String], isFresh: Bool, comparesContent: Bool, settled: SettledRows,
        operations: OperationStore, in reader: some StoreReader
    ) throws {
        self.page = page
        self.known = known
        self.isFresh = isFresh
        self.comparesContent = comparesContent
        let table = page.codec.schema.name
        let query = Query(operations.tables.operations).filter(.column("table") == .value(table)).order(by: "id")
        let found = try operations.operations(matching: query, in: reader).map { ($0.itemKey, $0) }
        pending = Dictionary(found) { oldest, _ in oldest }
        outdated = settled.ends(of: table, after: page.askedAt)
        versionColumn = page.rows.shape.index(of: "version")
    }

    /// For a table that was empty and that nobody edits: how many rows at the beginning the page before brought, which
    /// come first in the server's order. All others are new. Nil when each row must be looked at.
    var leadingKnown: Int? {
        guard isFresh, pending.isEmpty, outdated.isEmpty else { return nil }
        guard !known.isEmpty, let versionColumn else { return 0 }
        return (0..<page.rows.count).first { index in
            page.rows.withRow(at: index) { view in
                view.string(at: versionColumn).map { known[view.id] != $0 } ?? true
            }
        } ?? page.rows.count
    }

    /// What a row of the page changes.
    func effect(of view: borrowing RowView, isDeleted: Bool, in reader: some StoreReader) throws -> PageEffect {
        let version = versionColumn.flatMap { view.string(at: $0) }
        if !pending.isEmpty, let operation = pending[schema.itemKey(view.id)] {
            return try effect(of: view, version, on: operation)
        }
        if !outdated.isEmpty, let end = outdated[schema.itemKey(view.id)], try !isNewer(view, in: reader) {
            // A row that is no longer here was deleted: in the version that the page shows, or it is there again.
            guard !isDeleted, version != end.version, let updatedAt = view["updatedAt"]?.timestamp,
                try reader.row(in: schema.name, id: view.key) == nil
            else { return .none }
            return .passOver(updatedAt)
        }
        if isDeleted {
            return try reader.row(in: schema.name, id: view.key) == nil ? .none : .remove(view.key)
        }
        return try isKnown(view, version, in: reader) ? .none : .store
    }

    private func effect(
        of view: borrowing RowView, _ version: String?, on operation: TableOperation
    ) throws -> PageEffect {
        let known = try (operation.pulled ?? operation.base).map(page.codec.row)
        if let version, let known, known.version == version, shows(known, view) { return .none }
        // A page that was asked for before a push shows the row as it was before the push's answer.
        if let stamp = view["updatedAt"]?.timestamp, let newest = known?["updatedAt"]?.timestamp, stamp < newest {
            return .none
        }
        return .keepBeside(operation)
    }

    private func isKnown(_ view: borrowing RowView, _ version: String?, in reader: some StoreReader) throws -> Bool {
        guard let version else { return false }
        if known[view.id] == version { return true }
        guard !isFresh else { return false }
        guard comparesContent else {
            return try reader.withRow(in: schema.name, id: view.key) { $0["version"]?.string } == version
        }
        guard let stored = try reader.row(in: schema.name, id: view.key), stored.version == version else {
            return false
        }
        return shows(stored, view)
    }

    /// Whether a row that is kept in the page's version has all that the page shows; only looked at where it may not.
    private func shows(_ kept: Row, _ view: borrowing RowView) -> Bool {
        guard comparesContent else { return true }
        let shape = page.rows.shape
        for index in 0..<shape.count {
            if let value = view.value(at: index), value != kept[shape.columns[index].name] ?? .null { return false }
        }
        return true
    }

    /// Whether the server changed the row after the state that is stored.
    private func isNewer(_ view: borrowing RowView, in reader: some StoreReader) throws -> Bool {
        guard let updatedAt = view["updatedAt"]?.timestamp, let stored = try reader.row(in: schema.name, id: view.key)
        else { return false }
        return updatedAt > stored["updatedAt"]?.timestamp ?? .min
    }
}
