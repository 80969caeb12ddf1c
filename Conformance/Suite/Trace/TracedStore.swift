internal import Synchronization
internal import TidelineStore

/// A store that records calls and forwards them.
final class TracedStore: StoreLayer {
    typealias Reader = TracedReader
    typealias Writer = TracedWriter

    let base: AnyStore
    /// The name of its directory within that of the check.
    let folder: String
    private let name: String
    private let trace: Trace

    init(_ base: any LocalStore, name: String, folder: String, trace: Trace) {
        self.base = AnyStore(base)
        self.name = name
        self.folder = folder
        self.trace = trace
    }

    /// Every second call is a redefinition with these tables, which must have the same effect: the sync core defines
    /// tables by nothing else.
    func define(_ tables: [TableSchema]) throws {
        let redefines = trace.redefinesNext()
        do {
            try define(tables, redefines: redefines)
        } catch let error as StoreError where Self.refusals.contains(error.code) {
            do {
                try define(tables, redefines: !redefines)
            } catch let other as StoreError
                where (other.code, other.table, other.column) == (error.code, error.table, error.column)
            {
                throw error
            }
            throw CheckFailure("only \(redefines ? "redefine" : "define") refuses the tables: \(error)")
        }
    }

    /// The errors that either call has for tables that it refuses.
    private static let refusals: Set<StoreError.Code> = [.schemaMismatch, .tooManyTables, .readOnly, .closed]

    private func define(_ tables: [TableSchema], redefines: Bool) throws {
        guard !redefines else { return try redefine { _ in tables } }
        try noting("define(\(tables.swiftSource))") { try base.define(tables) }
    }

    func tables() throws -> [TableSchema] { try noting("tables()", isExpression: true) { try base.tables() } }

    var externalCommits: ExternalCommits? {
        base.externalCommits.map { commits in
            ExternalCommits(signalPath: commits.signalPath) { [self] in
                try noting("externalCommits?.number()", isExpression: true) { try commits.number() }
            }
        }
    }

    func close() throws { try noting("close()") { try base.close() } }

    func read<T>(_ body: (TracedReader) throws -> T) throws -> T {
        let entry = begin("read", "reader")
        return try TracedCall(trace: trace, entry: entry).run {
            try base.read { try body(TracedReader(base: $0, call: TracedCall(trace: trace, entry: entry))) }
        }
    }

    func write<T>(_ body: (TracedWriter) throws -> T) throws -> T {
        let entry = begin("write", "writer")
        return try TracedCall(trace: trace, entry: entry).run {
            try base.write { try body(TracedWriter(base: $0, call: TracedCall(trace: trace, entry: entry))) }
        }
    }

    func redefine(_ body: (TracedWriter) throws -> [TableSchema]) throws {
        let entry = begin("redefine", "writer")
        let call = TracedCall(trace: trace, entry: entry)
        try call.run {
            try base.redefine { writer in
                let tables = try body(TracedWriter(base: writer, call: call))
                return try call.noting("return \(tables.swiftSource)", isExpression: false) { tables }
            }
        }
    }

    private func begin(_ kind: String, _ handle: String) -> Trace.Entry {
        let name = name
        let entry = Trace.Entry(isExpression: false) { "\(name).\(kind) { \(handle) in" }
        entry.body.withLock { $0 = [] }
        trace.add(entry)
        return entry
    }

    private func noting<T>(
        _ text: @autoclosure @escaping @Sendable () -> String, isExpression: Bool = false, _ call: () throws -> T
    ) throws -> T {
        let name = name
        let entry = Trace.Entry(isExpression: isExpression) { "\(name).\(text())" }
        trace.add(entry)
        return try TracedCall(trace: trace, entry: entry).run(call)
    }
}

/// A call in a trace that can contain other calls.
struct TracedCall: Sendable {
    let trace: Trace
    let entry: Trace.Entry

    /// Makes the call and records how it ended.
    func run<T>(_ call: () throws -> T) throws -> T {
        do {
            return try call()
        } catch {
            entry.end(error)
            throw error
        }
    }

    /// Makes a call within this one.
    func noting<T>(
        _ text: @autoclosure @escaping @Sendable () -> String, isExpression: Bool = true, _ call: () throws -> T
    ) throws -> T {
        let inner = Trace.Entry(isExpression: isExpression, text)
        trace.add(inner, within: entry)
        return try TracedCall(trace: trace, entry: inner).run(call)
    }
}

/// The shared part of traced readers and writers.
protocol TracedReading: ReaderLayer, SendableMetatype {
    /// The call in whose body the reader is valid.
    var call: TracedCall { get }
    /// The name of the reader in a script.
    static var name: String { get }
}

extension TracedReading {
    func schema(of table: String) throws -> TableSchema {
        try call.noting("\(Self.name).schema(of: \(table.swiftSource))") { try base.schema(of: table) }
    }

    func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        try call.noting("\(Self.name).row(in: \(table.swiftSource), id: \(id.swiftSource))") {
            try base.withRow(in: table, id: id, body)
        }
    }

    @discardableResult
    func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try call.noting("\(Self.name).rows(matching: \(query.swiftSource))") { try base.scan(query, body) }
    }

    func count(_ query: TableQuery) throws -> Int {
        try call.noting("\(Self.name).count(\(query.swiftSource))") { try base.count(query) }
    }

    var limitTime: ((Duration) throws -> Void)? {
        base.limitTime.map { limitTime in
            { [call] duration in
                try call.noting("\(Self.name).limitTime?(.seconds(\(duration / .seconds(1))))", isExpression: false) {
                    try limitTime(duration)
                }
            }
        }
    }
}

/// The reader of a traced store.
struct TracedReader: TracedReading {
    static let name = "reader"

    let base: AnyStore.Reader
    let call: TracedCall
}

/// The writer of a traced store.
struct TracedWriter: TracedReading, WriterLayer {
    static let name = "writer"
    /// For larger batches, only the number of rows is recorded.
    private static let maximumBatch = 200

    let base: AnyStore.Writer
    let call: TracedCall

    func upsert(_ rows: borrowing PackedRows, into table: String) throws {
        let text = TracedWriter.source(of: rows, into: table)
        try call.noting(text(), isExpression: false) { try base.upsert(rows, into: table) }
    }

    @discardableResult
    func delete(ids: [RowID], from table: String) throws -> Int {
        try call.noting("writer.delete(ids: \(ids.swiftSource), from: \(table.swiftSource))") {
            try base.delete(ids: ids, from: table)
        }
    }

    @discardableResult
    func delete(matching query: TableQuery) throws -> Int {
        try call.noting("writer.delete(matching: \(query.swiftSource))") { try base.delete(matching: query) }
    }

    private static func source(of rows: borrowing PackedRows, into table: String) -> @Sendable () -> String {
        let count = rows.count
        guard count <= maximumBatch else {
            return { "writer.upsert([Row](), into: \(table.swiftSource))  // \(count) rows, left out" }
        }
        var owned: [Row] = []
        for index in 0..<count { owned.append(rows.withRow(at: index) { $0.owned() }) }
        return { [owned] in
            guard owned.count != 1 else {
                return "writer.upsert(\(owned[0].swiftSource) as Row, into: \(table.swiftSource))"
            }
            return "writer.upsert(\(owned.swiftSource) as [Row], into: \(table.swiftSource))"
        }
    }
}
