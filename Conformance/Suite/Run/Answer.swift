package import TidelineStore

/// Everything that a store returns for a query.
package struct Answer: Sendable {
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

/// The first difference between rows and those expected, described for quick reading.
struct RowDifference: CustomStringConvertible {
    let description: String

    /// Finds the first difference, or returns `nil` if there is none.
    init?(found: [Row], expected: [Row]) {
        if found.map(\.id) != expected.map(\.id) {
            description = """
                \(RowDifference.summary(found, expected))
                  found:    \(RowDifference.ids(found))
                  expected: \(RowDifference.ids(expected))
                """
            return
        }
        guard let index = found.indices.first(where: { !found[$0].isIdentical(to: expected[$0]) }) else { return nil }
        let (row, right) = (found[index], expected[index])
        description = """
            row \(index) differs in \(RowDifference.columns(row, right))
              found:    \(RowDifference.text(row, besides: right))
              expected: \(RowDifference.text(right, besides: row))
            """
    }

    private static func summary(_ found: [Row], _ expected: [Row]) -> String {
        guard found.count == expected.count else { return "found \(found.count) rows, expected \(expected.count)" }
        let isSame = Set(found.map(\.id)) == Set(expected.map(\.id))
        let place = zip(found, expected).enumerated().first { $1.0.id != $1.1.id }?.offset ?? 0
        return "found \(isSame ? "the rows in another order" : "other rows") than expected, from row \(place) on"
    }

    /// Describes the columns of a row that differ from those of another.
    private static func text(_ row: Row, besides other: Row) -> String {
        let differing = Set(differences(row, other).map { Array($0.utf8) })
        return CheckContext.text(differing.isEmpty ? row : row.filteringColumns { differing.contains(Array($0.utf8)) })
    }

    private static func ids(_ rows: [Row]) -> String {
        CheckContext.text(rows.map { $0.id ?? .string("(none)") })
    }

    private static func columns(_ a: Row, _ b: Row) -> String {
        let differing = differences(a, b)
        return differing.isEmpty ? "its columns" : differing.joined(separator: ", ")
    }

    private static func differences(_ a: Row, _ b: Row) -> [String] {
        let names = a.columnNames + b.columnNames.filter { !a.columnNames.contains($0) }
        return names.filter { name in
            let (left, right) = (Row.with(name, a[name]), Row.with(name, b[name]))
            return !left.isIdentical(to: right)
        }
    }
}

extension Row {
    fileprivate static func with(_ name: String, _ value: TidelineStore.Value?) -> Row {
        var row = Row()
        row[name] = value
        return row
    }

    /// Whether both rows name the same columns with bitwise identical values. `==` considers -0.0 equal to 0.0.
    package func isIdentical(to other: Row) -> Bool {
        let (left, right) = (values, other.values)
        guard id == other.id, left.count == right.count else { return false }
        return zip(left, right).allSatisfy { a, b in
            guard let value = a.name == b.name ? b.value : other[a.name] else { return false }
            guard case .double(let double) = a.value, case .double(let expected) = value else {
                return a.value == value
            }
            return double.bitPattern == expected.bitPattern || double.isNaN && expected.isNaN
        }
    }

    /// Returns this row with null for every column of the table that it does not name.
    package func completed(for schema: TableSchema) -> Row {
        schema.allColumns.reduce(into: self) { row, column in
            if row[column.name] == nil { row[column.name] = .null }
        }
    }
}
