internal import TidelineStore

/// A sequence of transactions that write the same rows to two tables. From the rows that a store keeps, a check can
/// determine whether they are the result of a prefix of the sequence.
///
/// Each transaction inserts rows with its number and records the number of transactions in one row; some delete the
/// rows of an earlier one.
struct PairedTransactions: Codable, Sendable, Hashable {
    /// The name of the writer; the prefix of the identifiers of its rows.
    var writer: String
    /// The number of the first transaction.
    var first = 0
    /// The maximum number of transactions.
    var count: Int
    /// The number of rows that each transaction adds to each table.
    var rows = 1
    /// The maximum length of the rows' texts.
    var length = 200

    /// The two tables.
    static let tables = ["left", "right"].map { name in
        TableSchema(
            name, columns: [.string("writer"), .int("number"), .int("total"), .string("text")],
            systemColumns: [], indexes: [["number"], ["writer", "number"]])
    }

    /// The transactions' numbers.
    var numbers: Range<Int> { first..<(first + count) }

    /// Makes the transaction with the given number, table by table.
    func apply(_ number: Int, to store: some StoreWriter) throws {
        for table in Self.tables {
            try store.upsert(inserted(by: number), into: table.name)
            try store.upsert(head(after: number + 1), into: table.name)
            guard let deleted = deleted(by: number) else { continue }
            let own = RowPredicate.column("writer") == .literal(.string(writer))
            let old = RowPredicate.column("number") == .literal(.int(Int64(deleted)))
            try store.delete(matching: TableQuery(table.name, predicate: own && old))
        }
    }

    /// Returns the rows of each table after all transactions up to the given number, sorted by identifier.
    func rows(after total: Int) -> [Row] {
        guard total > 0 else { return [] }
        let removed = Set((0..<total).compactMap(deleted))
        let kept = (0..<total).filter { !removed.contains($0) }.flatMap(inserted)
        return kept + [head(after: total)]
    }

    /// Returns the number of committed transactions according to the row that records it.
    func total(in rows: [Row]) -> Int {
        guard let last = rows.last, last.idText == headID else { return 0 }
        return last["total"]?.int.map(Int.init) ?? 0
    }

    /// The identifier of the row that records the number; it sorts after those of the other rows.
    private var headID: String { "\(writer)-total" }

    private func head(after total: Int) -> Row {
        [
            "id": .string(headID), "writer": .string(writer), "number": -1, "total": .int(Int64(total)),
            "text": .string(text(total, 0)),
        ]
    }

    private func inserted(by number: Int) -> [Row] {
        (0..<rows).map { index in
            [
                "id": .string("\(writer)-\(Self.digits(number))-\(Self.digits(index))"), "writer": .string(writer),
                "number": .int(Int64(number)), "total": .null, "text": .string(text(number, index)),
            ]
        }
    }

    /// Returns a number with leading zeros, so that texts sort numerically.
    private static func digits(_ number: Int) -> String { String(String(number + 10_000_000).dropFirst()) }

    private func deleted(by number: Int) -> Int? { number % 4 == 3 ? number - 2 : nil }

    private func text(_ number: Int, _ index: Int) -> String {
        let length = (number * 7 + index * 13) % (length + 1)
        return "\(number).\(index) " + String(repeating: "x", count: length)
    }
}

/// A row whose number several processes increment.
struct PairedCounter: Codable, Sendable {
    /// The identifier of the row, which is in the first of ``PairedTransactions/tables``.
    var id = "counter"

    /// Increments the number in one transaction, and returns it.
    func increment(in store: some LocalStore) throws -> Int64 {
        let table = PairedTransactions.tables[0].name
        return try store.write { writer in
            let next = (try writer.row(in: table, id: id)?["number"]?.int ?? 0) + 1
            let row: Row = ["id": .string(id), "number": .int(next)]
            try writer.upsert(row, into: table)
            return next
        }
    }
}
