internal import TidelineStore

/// Transactions in a row that put the same rows into two tables, so that one sees of what a store keeps whether it is
/// what the first so many of them make.
///
/// Each inserts rows with its number, notes in one row how many there were, and some delete the rows of an earlier one.
struct PairedTransactions: Codable, Sendable, Hashable {
    /// Whose they are; the ids of the rows begin with it.
    var writer: String
    /// The number of the first.
    var first = 0
    /// How many there are at most.
    var count: Int
    /// How many rows each puts into either table.
    var rows = 1
    /// How long the rows' texts are at most.
    var length = 200

    /// The two tables.
    static let tables = ["left", "right"].map { name in
        TableSchema(
            name, columns: [.string("writer"), .int("number"), .int("total"), .string("text")],
            systemColumns: [], indexes: [["number"], ["writer", "number"]])
    }

    /// Their numbers.
    var numbers: Range<Int> { first..<(first + count) }

    /// Makes the transaction of that number, table by table.
    func apply(_ number: Int, to store: some StoreWriter) throws {
        for table in Self.tables {
            try store.upsert(inserted(by: number), into: table.name)
            try store.upsert(head(after: number + 1), into: table.name)
            guard let deleted = deleted(by: number) else { continue }
            let own = Predicate.column("writer") == .literal(.string(writer))
            let old = Predicate.column("number") == .literal(.int(Int64(deleted)))
            try store.delete(matching: Query(table.name, predicate: own && old))
        }
    }

    /// What is in either table when all up to that number were committed, in order of id.
    func rows(after total: Int) -> [Row] {
        guard total > 0 else { return [] }
        let removed = Set((0..<total).compactMap(deleted))
        let kept = (0..<total).filter { !removed.contains($0) }.flatMap(inserted)
        return kept + [head(after: total)]
    }

    /// How many of them the row that notes it says were committed.
    func total(in rows: [Row]) -> Int {
        guard let last = rows.last, last.id == headID else { return 0 }
        return last["total"]?.int.map(Int.init) ?? 0
    }

    /// It comes after the ids of the other rows.
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

    /// A number with so many digits that texts are in its order.
    private static func digits(_ number: Int) -> String { String(String(number + 10_000_000).dropFirst()) }

    private func deleted(by number: Int) -> Int? { number % 4 == 3 ? number - 2 : nil }

    private func text(_ number: Int, _ index: Int) -> String {
        let length = (number * 7 + index * 13) % (length + 1)
        return "\(number).\(index) " + String(repeating: "x", count: length)
    }
}

/// A row whose number several processes count up.
struct PairedCounter: Codable, Sendable {
    /// The id of the row, which is in the first of ``PairedTransactions/tables``.
    var id = "counter"

    /// Reads the number and writes the next one, in one transaction.
    /// - Returns: The new number.
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
