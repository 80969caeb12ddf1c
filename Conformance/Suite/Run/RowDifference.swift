package import TidelineStore

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
