package import TidelineStore

/// All that a store says to a query.
package struct Answer {
    package var rows: [Row]
    package var totalCount: Int?
    /// How many rows match the predicate.
    package var matching: Int

    /// What the evaluator says.
    package static func expected(
        _ query: Query, _ schema: TableSchema, _ rows: borrowing PackedRows
    ) throws -> Answer {
        var counting = query
        counting.includesTotalCount = true
        let result = try Evaluator(schema: schema).result(of: counting, over: rows)
        let total = result.totalCount ?? -1
        return Answer(rows: result.rows, totalCount: query.includesTotalCount ? total : nil, matching: total)
    }

    /// What a store says.
    package static func of(_ reader: some StoreReader, _ query: Query) throws -> Answer {
        let result = try reader.rows(matching: query)
        return Answer(rows: result.rows, totalCount: result.totalCount, matching: try reader.count(query))
    }

    /// How this answer differs from the right one, nil when it does not.
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
    /// Rows of this table in one buffer.
    package func packed(_ rows: [Row]) throws -> PackedRows {
        var packed = PackedRows(shape: makeShape())
        for row in rows { try packed.append(row) }
        return packed
    }

    /// Rows with null for every column that they do not name, as they are read.
    package func completing(_ rows: [Row]) -> [Row] { rows.map { $0.completed(for: self) } }
}
