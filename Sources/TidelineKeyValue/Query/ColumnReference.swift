internal import TidelineStore

/// A column as a query names it, found once.
struct ColumnReference: Hashable, Sendable {
    /// Its position in the table's shape; nil for `id`.
    let position: Int?
    /// The type of its values.
    let type: ColumnType
    /// Whether its texts compare without regard to ASCII case, as ids may.
    let folds: Bool
}

extension ColumnReference {
    /// The column of that name; nil when the table has none.
    init?(_ name: String, in table: StoredTable) {
        if name == "id" {
            self.init(idOf: table)
        } else if let position = table.shape.index(of: name) {
            self.init(position: position, type: table.shape.columns[position].type, folds: false)
        } else {
            return nil
        }
    }

    /// The id of the table's rows.
    init(idOf table: StoredTable) {
        self.init(position: nil, type: table.ids == .int ? .int : .string, folds: table.ids == .folded)
    }
}

extension ColumnType {
    /// Whether values are eight bytes that compare as one word does, see ``WordInterval``.
    var isWord: Bool { self == .int || self == .double || self == .timestamp }
    /// Whether values are a run of bytes.
    var isText: Bool { self == .string || self == .bytes || self == .json }
}

/// A comparison of a column with a literal, whichever side each stood on.
struct ColumnComparison {
    let column: ColumnReference
    let comparison: Predicate.Comparison
    let literal: Value

    /// Nil when the operands are not a column of the table and a literal.
    init?(_ comparison: Predicate.Comparison, _ a: Predicate, _ b: Predicate, in table: StoredTable) {
        switch (a, b) {
        case (.column(let name), .literal(let literal)):
            self.comparison = comparison
            self.literal = literal
            guard let column = ColumnReference(name, in: table) else { return nil }
            self.column = column
        case (.literal(let literal), .column(let name)):
            self.comparison = comparison.flipped
            self.literal = literal
            guard let column = ColumnReference(name, in: table) else { return nil }
            self.column = column
        default: return nil
        }
    }
}

extension Predicate.Comparison {
    /// The comparison that says the same with the operands exchanged.
    var flipped: Self {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

extension Value {
    /// The UTF-8 or the bytes of a text, as stored; empty for values of other types.
    var textBytes: [UInt8] {
        switch self {
        case .string(let text), .json(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        default: []
        }
    }
}

extension [UInt8] {
    /// With `A`–`Z` made `a`–`z`.
    var asciiFolded: [UInt8] { map(\.asciiFolded) }
}

extension UInt8 {
    /// `a`–`z` for `A`–`Z`, other bytes as they are.
    @inline(__always)
    var asciiFolded: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}
