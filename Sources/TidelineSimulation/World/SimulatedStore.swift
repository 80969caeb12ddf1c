internal import Synchronization
internal import TidelineStore

/// A store that ends with its process: before or after any call, and before or after a commit.
final class SimulatedStore: StoreLayer {
    typealias Reader = AnyStore.Reader

    /// A row before and after a transaction; `nil` if it does not exist.
    struct Change: Sendable {
        var table: String
        var id: RowID
        var before: Row?
        var after: Row?
    }

    typealias Observer = @Sendable ([Change]) -> Void

    let base: AnyStore
    private let generation: Generation
    /// The tables whose rows are observed.
    private let observed: Set<String>
    /// Called after each commit with the observed rows that it wrote.
    private let observer: Observer

    init(_ base: AnyStore, generation: Generation, observing tables: [TableSchema], _ observer: @escaping Observer) {
        self.base = base
        self.generation = generation
        observed = Set(tables.map(\.name))
        self.observer = observer
    }

    func define(_ tables: [TableSchema]) throws {
        try generation.pass()
        try base.define(tables)
        try generation.pass()
    }

    func redefine(_ body: (Writer) throws -> [TableSchema]) throws {
        try generation.pass()
        let recorder = Recorder(observed)
        var changes: [Change] = []
        try base.redefine { writer in
            let tables = try body(Writer(base: writer, generation: generation, recorder: recorder))
            try generation.pass()
            changes = try recorder.changes(in: writer)
            return tables
        }
        observer(changes)
        try generation.pass()
    }

    func read<T>(_ body: (AnyStore.Reader) throws -> T) throws -> T {
        try generation.pass()
        return try base.read(body)
    }

    func write<T>(_ body: (Writer) throws -> T) throws -> T {
        try generation.pass()
        let recorder = Recorder(observed)
        var changes: [Change] = []
        let result = try base.write { writer in
            let result = try body(Writer(base: writer, generation: generation, recorder: recorder))
            try generation.pass()
            changes = try recorder.changes(in: writer)
            return result
        }
        observer(changes)
        try generation.pass()
        return result
    }

    /// Keeps the rows as they were before a transaction.
    fileprivate final class Recorder: Sendable {
        private let observed: Set<String>
        private let rows = Mutex<[(table: String, id: RowID, before: Row?)]>([])

        init(_ observed: Set<String>) { self.observed = observed }

        func observes(_ table: String) -> Bool { observed.contains(table) }

        func note(_ id: RowID, in table: String, _ writer: AnyStore.Writer) throws {
            guard !rows.withLock({ $0.contains { $0.table == table && $0.id == id } }) else { return }
            let before = try writer.row(in: table, id: id)
            rows.withLock { $0.append((table, id, before)) }
        }

        func changes(in writer: AnyStore.Writer) throws -> [Change] {
            try rows.withLock { $0 }.map { row in
                Change(
                    table: row.table, id: row.id, before: row.before, after: try writer.row(in: row.table, id: row.id))
            }
        }
    }

    struct Writer: WriterLayer {
        let base: AnyStore.Writer
        fileprivate let generation: Generation
        fileprivate let recorder: Recorder

        func upsert(_ rows: borrowing PackedRows, into table: String) throws {
            try generation.pass()
            if recorder.observes(table) { try rows.forEachRow { try recorder.note($0.id, in: table, base) } }
            try base.upsert(rows, into: table)
        }

        @discardableResult
        func delete(ids: [RowID], from table: String) throws -> Int {
            try generation.pass()
            if recorder.observes(table) { for id in ids { try recorder.note(id, in: table, base) } }
            return try base.delete(ids: ids, from: table)
        }

        @discardableResult
        func delete(matching query: TableQuery) throws -> Int {
            try generation.pass()
            guard recorder.observes(query.table) else { return try base.delete(matching: query) }
            let ids = try base.rows(matching: query.select("id")).rows.compactMap(\.id)
            return try delete(ids: ids, from: query.table)
        }
    }
}
