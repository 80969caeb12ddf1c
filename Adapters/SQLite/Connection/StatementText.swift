internal import TidelineStore

/// The text of a statement as a dictionary key, compared byte by byte: canonically equivalent strings can be the names
/// of different tables.
struct StatementText: Hashable {
    let sql: String

    init(_ sql: String) { self.sql = sql }

    static func == (a: StatementText, b: StatementText) -> Bool { a.sql.isSameBytes(as: b.sql) }

    func hash(into hasher: inout Hasher) {
        var sql = sql
        sql.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
