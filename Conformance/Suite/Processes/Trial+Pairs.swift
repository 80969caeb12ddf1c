internal import TidelineStore

extension Trial {
    /// Fails unless the two tables hold the same rows, those that the first so many transactions of each writer make.
    ///
    /// - Parameters:
    ///   - expected: For each writer, how many transactions there may be: from those that were acknowledged up to those
    ///     that were begun.
    ///   - moment: When it is that one looks.
    /// - Returns: How many transactions of each writer there are.
    @discardableResult
    func expectPairs(
        _ expected: [PairedTransactions: ClosedRange<Int>], in store: TracedStore, _ moment: String
    ) throws -> [PairedTransactions: Int] {
        let (left, right) = try store.read { reader in
            (try reader.allRows("left"), try reader.allRows("right"))
        }
        try expect(
            right, are: left, "\(moment), two tables that every transaction writes alike differ; found is the second")
        var totals: [PairedTransactions: Int] = [:]
        for (transactions, range) in expected {
            let own = left.filter(transactions.owns)
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
        try expect(
            rows, are: transactions.rows(after: total), "\(moment), the rows after \(total) whole transactions")
        return total
    }

    /// Fails unless queries by the table's indexes find what a look at every row finds.
    func expectIndexesAgree(_ table: TableSchema, in store: TracedStore, _ moment: String) throws {
        let rows = try store.read { try $0.allRows(table.name) }
        let packed = try table.packed(rows)
        let numbers = Set(rows.compactMap { $0["number"]?.int }).sorted()
        let chosen = Set([numbers.first, numbers.last, numbers.dropFirst(numbers.count / 2).first].compactMap { $0 })
        var queries = chosen.sorted().map { Query(table.name, predicate: .column("number") == .literal(.int($0))) }
        queries.append(Query(table.name).order(by: "number"))
        queries.append(Query(table.name, predicate: .column("number") >= 0).order(by: "writer").order(by: "number"))
        for query in queries {
            let found = try store.read { try Answer.of($0, query) }
            if let difference = found.difference(from: try Answer.expected(query, table, packed)) {
                throw CheckFailure("\(moment), \(query.swiftSource) does not find what is there: \(difference)")
            }
        }
    }
}
