package import TidelineStore

/// Everything that a store returns for a query.
package struct Answer {
    package var rows: [Row]
    package var totalCount: Int?
    /// The number of rows that match the predicate.
    package var matching: Int

    /// Returns the evaluator's answer.
    package static func expected(
        _ query: TableQuery, _ schema: TableSchema, _ rows: borrowing PackedRows
    ) throws -> Answer {
        var counting = query
        counting.includesTotalCount = true
        let result = try Evaluator(schema: schema).result(of: counting, over: rows)
        let total = result.totalCount ?? -1
        return Answer(rows: result.rows, totalCount: query.includesTotalCount ? total : nil, matching: total)
    }

    /// Returns the store's answer.
    package static func of(_ reader: some StoreReader, _ query: TableQuery) throws -> Answer {
        let result = try reader.rows(matching: query)
        return Answer(rows: result.rows, totalCount: result.totalCount, matching: try reader.count(query))
    }

    /// Describes how this answer differs from the expected one, or returns `nil` if they are equal.
    package func difference(from expected: Answer) -> String? {
        if let difference = RowDifference(found: rows, expected: expected.rows) { return "\(difference)" }
        guard totalCount == expected.totalCount else {
            return """
                the total count is \(totalCount.map(String.init) ?? "nil"), \
                expected \(expected.totalCount.map(String.init) ?? "nil")
                """
        }
        return matching == expected.matching ? nil : "count(_:) is \(matching), expected \(expected.matching)"
    }
}

extension TableSchema {
    /// Packs rows of this table into one buffer.
    package func packed(_ rows: [Row]) throws -> PackedRows {
        var packed = PackedRows(shape: makeShape())
        for row in rows { try packed.append(row) }
        return packed
    }

    /// Returns the rows as they are read, with null for every column that they do not name.
    package func completing(_ rows: [Row]) -> [Row] { rows.map { $0.completed(for: self) } }
}
