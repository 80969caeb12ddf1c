/// A column named by a query, resolved once.
@usableFromInline
package struct ColumnReference: Equatable, Sendable {
    /// The position in the shape of the rows, or `nil` for `id`.
    @usableFromInline package let position: Int?
    /// The type of the column's values.
    @usableFromInline package let type: ColumnType
    /// Whether the column's texts compare without regard to ASCII case, as identifiers may.
    @usableFromInline package let folds: Bool

    @inlinable
    package init(position: Int?, type: ColumnType, folds: Bool) {
        self.position = position
        self.type = type
        self.folds = folds
    }

    /// Whether two references to columns of the same table are to the same column.
    @inlinable
    package static func == (a: Self, b: Self) -> Bool { a.position == b.position }
}

extension ColumnReference {
    /// Creates a reference to the column with the given name, or returns `nil` if there is none.
    ///
    /// - Parameter shape: The rows for which the reference is, or `nil` for those of the table's definition.
    package init?(_ name: String, in table: Evaluator, at shape: RowShape? = nil) {
        let shape = shape ?? table.definition
        if name == "id" {
            self = table.id
        } else if let position = shape.index(of: name) {
            self.init(position: position, type: shape.columns[position].type, folds: false)
        } else {
            return nil
        }
    }
}

extension ColumnType {
    /// Whether values are eight bytes that compare as one word; see ``WordInterval``.
    package var isWord: Bool { self == .int || self == .double || self == .timestamp }
}

/// A comparison of a column with a literal, with the column on the left.
package struct ColumnComparison {
    package let column: ColumnReference
    package let comparison: RowPredicate.Comparison
    package let literal: Value

    /// Creates a comparison, or returns `nil` if the operands are not a column and a literal.
    package init?(
        _ comparison: RowPredicate.Comparison, _ a: RowPredicate, _ b: RowPredicate, in table: Evaluator,
        at shape: RowShape? = nil
    ) {
        let name: String
        switch (a, b) {
        case (.column(let column), .literal(let value)): (name, self.comparison, literal) = (column, comparison, value)
        case (.literal(let value), .column(let column)):
            (name, self.comparison, literal) = (column, comparison.flipped, value)
        default: return nil
        }
        guard let column = ColumnReference(name, in: table, at: shape) else { return nil }
        self.column = column
    }
}

extension RowPredicate.Comparison {
    /// The equivalent comparison with the operands exchanged.
    package var flipped: Self {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    /// The operator, as in SQL.
    package var symbol: String {
        switch self {
        case .equal: "="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}

extension RowPredicate.Arithmetic {
    /// The operator, as in SQL.
    package var symbol: String {
        switch self {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .modulo: "%"
        }
    }
}

extension Value {
    /// The UTF-8 or the bytes of a text as stored, or an empty array for values of other types.
    package var textBytes: [UInt8] {
        switch self {
        case .string(let text), .json(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        default: []
        }
    }
}

extension [UInt8] {
    /// The bytes with `A`–`Z` replaced by `a`–`z`.
    package var asciiFolded: [UInt8] { map(\.asciiFolded) }
}

extension UInt8 {
    /// The byte with `A`–`Z` replaced by `a`–`z`.
    @inlinable
    @inline(__always)
    package var asciiFolded: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}
