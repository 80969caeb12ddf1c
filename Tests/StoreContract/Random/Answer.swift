import TidelineStore

/// All that a store says to a query.
struct Answer {
    var rows: [Row]
    var totalCount: Int?
    /// How many rows match the predicate.
    var matching: Int

    /// What the evaluator says.
    static func expected(_ query: Query, _ schema: TableSchema, _ rows: borrowing PackedRows) throws -> Answer {
        var counting = query
        counting.includesTotalCount = true
        let result = try Evaluator(schema: schema).result(of: counting, over: rows)
        let total = result.totalCount ?? -1
        return Answer(rows: result.rows, totalCount: query.includesTotalCount ? total : nil, matching: total)
    }

    /// What a store says.
    static func of(_ reader: some StoreReader, _ query: Query) throws -> Answer {
        let result = try reader.rows(matching: query)
        return Answer(rows: result.rows, totalCount: result.totalCount, matching: try reader.count(query))
    }

    /// How this answer differs from the right one, nil when it does not.
    func difference(from expected: Answer) -> String? {
        guard rows.count == expected.rows.count else {
            return "\(rows.count) rows, \(expected.rows.count) expected"
        }
        for (index, (row, right)) in zip(rows, expected.rows).enumerated() where !row.isIdentical(to: right) {
            return "row \(index) is \(row), \(right) expected"
        }
        guard totalCount == expected.totalCount else {
            return "the total count is \(totalCount ?? -1), \(expected.totalCount ?? -1) expected"
        }
        return matching == expected.matching ? nil : "the count is \(matching), \(expected.matching) expected"
    }
}

extension Row {
    /// Whether both rows are the same to the bit: `==` holds -0.0 to be 0.0.
    func isIdentical(to other: Row) -> Bool {
        let (left, right) = (values, other.values)
        guard key == other.key, left.count == right.count else { return false }
        return zip(left, right).allSatisfy { a, b in
            let value = a.name == b.name ? b.value : other[a.name] ?? .null
            guard case .double(let double) = a.value, case .double(let expected) = value else {
                return a.value == value
            }
            return double.bitPattern == expected.bitPattern || double.isNaN && expected.isNaN
        }
    }

    /// This row with null for every column of the table that it does not name.
    func completed(for schema: TableSchema) -> Row {
        schema.allColumns.reduce(into: self) { row, column in
            if row[column.name] == nil { row[column.name] = .null }
        }
    }
}

extension TableSchema {
    /// Rows of this table in one buffer.
    func packed(_ rows: [Row]) throws -> PackedRows {
        var packed = PackedRows(shape: makeShape())
        for row in rows { try packed.append(row) }
        return packed
    }
}
