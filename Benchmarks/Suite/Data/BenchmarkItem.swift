#if Commands
internal import TidelineStore

/// A row of the ``BenchmarkTable`` with the fewest columns, as an app declares it.
///
/// The conformance is written by hand, like those that the macro `@Table` writes.
struct BenchmarkItem: TableRecord {
    var id: ID<BenchmarkItem>
    var text: String
    var list: String
    var rank: Int64
    var done: Bool
    var score: Double
    var due: Timestamp
    var note: String?
    var owner: String
    /// The server assigns it, as it does ``version``.
    var updatedAt: Timestamp?
    var version: String?

    struct Columns: Sendable {
        let text = Column<String>("text")
        let list = Column<String>("list")
        let rank = Column<Int64>("rank")
        let done = Column<Bool>("done")
        let score = Column<Double>("score")
        let due = Column<Timestamp>("due")
        let note = Column<String?>("note")
        let owner = Column<String>("owner")
        let updatedAt = Column<Timestamp?>("updatedAt")
        let version = Column<String?>("version")
    }
    static let columns = Columns()
    static let schema = BenchmarkTable().schema
    static let tableName = schema.name
}

extension BenchmarkItem {
    init(from row: inout RecordReader) throws {
        try self.init(
            id: row.id(),
            text: row.read(Self.columns.text),
            list: row.read(Self.columns.list),
            rank: row.read(Self.columns.rank),
            done: row.read(Self.columns.done),
            score: row.read(Self.columns.score),
            due: row.read(Self.columns.due),
            note: row.read(Self.columns.note),
            owner: row.read(Self.columns.owner),
            updatedAt: row.read(Self.columns.updatedAt),
            version: row.read(Self.columns.version))
    }

    func write(to row: inout RecordWriter) throws {
        try row.write(text, to: Self.columns.text)
        try row.write(list, to: Self.columns.list)
        try row.write(rank, to: Self.columns.rank)
        try row.write(done, to: Self.columns.done)
        try row.write(score, to: Self.columns.score)
        try row.write(due, to: Self.columns.due)
        try row.write(note, to: Self.columns.note)
        try row.write(owner, to: Self.columns.owner)
        try row.write(updatedAt, to: Self.columns.updatedAt)
        try row.write(version, to: Self.columns.version)
    }

    /// The row number of the row; see ``RowChecksum``.
    var number: UInt64 {
        var number = RowChecksum.start
        RowChecksum.mix(&number, RowChecksum.value(of: id.text))
        RowChecksum.mix(&number, RowChecksum.value(of: text))
        RowChecksum.mix(&number, RowChecksum.value(of: list))
        RowChecksum.mix(&number, RowChecksum.value(of: rank))
        RowChecksum.mix(&number, RowChecksum.value(of: done))
        RowChecksum.mix(&number, score.bitPattern)
        RowChecksum.mix(&number, RowChecksum.value(of: due.ticks))
        RowChecksum.mix(&number, note.map { RowChecksum.value(of: $0) } ?? RowChecksum.null)
        RowChecksum.mix(&number, RowChecksum.value(of: owner))
        RowChecksum.mix(&number, updatedAt.map { RowChecksum.value(of: $0.ticks) } ?? RowChecksum.null)
        RowChecksum.mix(&number, version.map { RowChecksum.value(of: $0) } ?? RowChecksum.null)
        return number
    }
}

extension BenchmarkTable {
    /// Whether a ``BenchmarkItem`` has all columns of the table.
    var hasRecord: Bool { schema.columns.count == BenchmarkItem.schema.columns.count }

    /// Checks that a ``BenchmarkItem`` has all columns of the table.
    ///
    /// - Throws: ``WorkNotApplicable`` if it does not.
    func requireRecord() throws {
        guard hasRecord else { throw WorkNotApplicable("the record has \(Self.leastColumns) columns") }
    }
}
#endif
