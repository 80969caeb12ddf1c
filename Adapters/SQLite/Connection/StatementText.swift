internal import TidelineStore

/// The text of a statement as a key: compared byte for byte, where strings are equal that only look alike, as the names of
/// two tables may.
struct StatementText: Hashable {
    let sql: String

    init(_ sql: String) { self.sql = sql }

    static func == (a: StatementText, b: StatementText) -> Bool { a.sql.isSameBytes(as: b.sql) }

    func hash(into hasher: inout Hasher) {
        var sql = sql
        sql.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
