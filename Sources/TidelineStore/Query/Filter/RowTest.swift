/// A test of a row's bytes. It is false for null unless it tests for null.
enum RowTest: Sendable {
    /// The column's tag is one of these.
    case tags(ColumnOperand, TagSet)
    /// The word of a number or timestamp is in an interval.
    case word(ColumnOperand, WordInterval)
    /// The word is one of these constants.
    case wordIn(ColumnOperand, Span)
    /// The text has one of these relations to a constant.
    case text(ColumnOperand, Relations, Text)
    /// The text is one of these constants.
    case textIn(ColumnOperand, Span)
    /// The text as stored, also for identifiers, begins with a constant.
    case hasPrefix(ColumnOperand, Text)
    case hasSuffix(ColumnOperand, Text)
    case contains(ColumnOperand, Text)
    /// Two columns, neither of them null, have one of these relations.
    case columns(ColumnOperand, Relations, ColumnOperand)
    /// Both columns are null.
    case nulls(ColumnOperand, ColumnOperand)
    /// A condition that the evaluator computes; see ``CompiledFilter``.
    case predicate(Int)

    /// Whether the test reads only the bytes of columns.
    var readsColumnsOnly: Bool {
        switch self {
        case .predicate: false
        case .columns(let a, _, let b): !a.isID && !b.isID
        case .tags(let operand, _), .word(let operand, _), .wordIn(let operand, _), .text(let operand, _, _),
            .textIn(let operand, _), .hasPrefix(let operand, _), .hasSuffix(let operand, _), .contains(let operand, _):
            !operand.isID
        case .nulls: true
        }
    }

    /// The location of a text in the constants' bytes.
    struct Text: Sendable {
        let offset: Int
        let count: Int
    }

    /// The location of a set in the constants' words or texts.
    struct Span: Sendable {
        let lower: Int
        let upper: Int
    }

    /// The relations of two values for which a comparison holds.
    struct Relations: OptionSet, Sendable {
        let rawValue: UInt8
        static let less = Relations(rawValue: 1)
        static let equal = Relations(rawValue: 2)
        static let greater = Relations(rawValue: 4)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Creates the relations of a comparison. For `!=`, they are those of `==`, and the caller negates the result.
        init(_ comparison: RowPredicate.Comparison) {
            switch comparison {
            case .equal, .notEqual: self = .equal
            case .less: self = .less
            case .lessOrEqual: self = [.less, .equal]
            case .greater: self = .greater
            case .greaterOrEqual: self = [.greater, .equal]
            }
        }

        /// Whether the set contains the relation given by an order as `memcmp` returns it.
        func contains(order: Int) -> Bool {
            contains(order < 0 ? .less : order == 0 ? .equal : .greater)
        }
    }
}
