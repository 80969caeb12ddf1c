internal import TidelineStore

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
