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

extension CheckContext {
    /// Fails unless the two tables hold the same rows: the result of a prefix of each writer's transactions.
    ///
    /// - Parameters:
    ///   - expected: For each writer, the possible numbers of transactions: from those that were acknowledged to those
    ///     that were begun.
    ///   - moment: When the tables are read, for messages.
    /// - Returns: The number of transactions of each writer.
    @discardableResult
    func expectPairs(
        _ expected: [PairedTransactions: ClosedRange<Int>], in store: TracedStore, _ moment: String
    ) throws -> [PairedTransactions: Int] {
        let (left, right) = try store.read { reader in
            (try reader.allRows("left"), try reader.allRows("right"))
        }
        try expect(right, are: left, "\(moment), two tables with equal transactions differ; found is the second")
        let rows = Dictionary(grouping: left) { $0["writer"]?.string ?? "" }
        var totals: [PairedTransactions: Int] = [:]
        for (transactions, range) in expected {
            let own = rows[transactions.writer] ?? []
            totals[transactions] = try expectPrefix(of: transactions, range, own, moment)
        }
        for table in PairedTransactions.tables { try expectIndexesAgree(table, in: store, moment) }
        return totals
    }

    private func expectPrefix(
        of transactions: PairedTransactions, _ range: ClosedRange<Int>, _ rows: [Row], _ moment: String
    ) throws -> Int {
        let total = transactions.total(in: rows)
        let counts = "\(moment): found \(total) transactions of \(transactions.writer)"
        try expect(total >= range.lowerBound, "\(counts), though \(range.lowerBound) were acknowledged")
        try expect(total <= range.upperBound, "\(counts), though only \(range.upperBound) were begun")
        try expect(rows, are: transactions.rows(after: total), "\(moment), the rows after \(total) whole transactions")
        return total
    }

    /// Fails unless queries by the table's indexes find the rows. Ids suffice: a killed process leaves wrong entries.
    func expectIndexesAgree(_ table: TableSchema, in store: TracedStore, _ moment: String) throws {
        try store.read { reader in
            let rows = try reader.allRows(table.name)
            for index in table.indexes {
                var query = TableQuery(table.name)
                query.order = index.columns.map { OrderTerm($0) }
                try expect(query, reader, finds: rows, moment)
                let column = index.columns[0]
                guard let value = rows.dropFirst(rows.count / 2).first?[column] else { continue }
                query.predicate = .column(column) == .literal(value)
                try expect(query, reader, finds: rows.filter { $0[column] == value }, moment)
            }
        }
    }

    private func expect(_ query: TableQuery, _ reader: TracedReader, finds rows: [Row], _ moment: String) throws {
        let found = Set(try reader.ids(query))
        let right = Set(rows.map(\.idText))
        let differing = found.symmetricDifference(right).sorted().prefix(5)
        try expect(
            differing.isEmpty,
            "\(moment), \(query.swiftSource) finds \(found.count) rows, expected \(right.count); differences: \(differing)"
        )
    }
}
