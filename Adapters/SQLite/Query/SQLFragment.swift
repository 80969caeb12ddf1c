internal import TidelineStore

/// A part of an SQL expression, with its known properties.
struct SQLFragment {
    var text: String
    /// The indices in the compiler's values of the parameters, in the order of the text. Parameters are not numbered in
    /// the text: SQLite takes longer for each numbered parameter, the more of them there are.
    var places: [Int] = []
    /// The precedence of the outermost operator.
    var level: Level
    var type: OperandType
    var isNeverNull = false
    /// Whether the value is a literal NaN. SQLite has no NaN and binds it as null.
    var isNaN = false
    /// Whether this is the column `id` of a table whose identifiers fold case.
    var foldsCase = false
    /// Whether this is the column `id` of a table with integer identifiers.
    var isRowID = false
    /// The depth of nested parentheses. SQLite's parser accepts about thirty to forty levels.
    var nesting = 0

    /// The precedence of SQL's operators, the lowest first.
    enum Level: Int, Comparable {
        case or, and, equality, inequality, bits, addition, multiplication, concatenation, collation, primary

        static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    /// Creates an operand that needs no parentheses.
    static func primary(_ text: String, _ type: OperandType, isNeverNull: Bool = false) -> SQLFragment {
        SQLFragment(text: text, level: .primary, type: type, isNeverNull: isNeverNull)
    }

    static let null = primary("NULL", .null)
    static let `true` = primary("1", .value(.bool), isNeverNull: true)
    static let `false` = primary("0", .value(.bool), isNeverNull: true)

    /// Creates an expression of two operands with an operator between them, with no more parentheses than needed:
    /// operators of equal precedence associate to the left, so a tree that is deep only on its left side becomes a flat
    /// text.
    ///
    /// - Parameter isNeverNull: By default, whether that is true of both operands.
    static func binary(
        _ left: SQLFragment, _ symbol: String, _ right: SQLFragment, _ level: Level, type: OperandType = .value(.bool),
        isNeverNull: Bool? = nil
    ) -> SQLFragment {
        let a = left.level < level ? left.parenthesized : left
        let b = right.level <= level ? right.parenthesized : right
        return SQLFragment(
            text: "\(a.text) \(symbol) \(b.text)", places: a.places + b.places, level: level, type: type,
            isNeverNull: isNeverNull ?? (left.isNeverNull && right.isNeverNull), nesting: max(a.nesting, b.nesting))
    }

    static func call(_ function: String, _ operands: [SQLFragment], type: OperandType) -> SQLFragment {
        SQLFragment(
            text: "\(function)(\(operands.map(\.text).joined(separator: ", ")))", places: operands.flatMap(\.places),
            level: .primary, type: type, nesting: 1 + (operands.map(\.nesting).max() ?? 0))
    }

    /// Returns the expression followed by a postfix operator such as `IS NULL`.
    func followed(by suffix: String) -> SQLFragment {
        let operand = level < .equality ? parenthesized : self
        return SQLFragment(
            text: "\(operand.text) \(suffix)", places: operand.places, level: .equality, type: .value(.bool),
            isNeverNull: true, nesting: operand.nesting)
    }

    /// The expression under the collation that folds ASCII case.
    var folded: SQLFragment {
        var result = level < .collation ? parenthesized : self
        result.text += " COLLATE \(FoldingCollation.name)"
        result.level = .collation
        return result
    }

    /// Returns the expression as an operand of an equality with another one.
    ///
    /// SQLite does not find the least integer when it searches rowids for an equal double, only when it compares them.
    func equated(with other: SQLFragment) -> SQLFragment {
        guard isRowID, other.type == .value(.double) else { return self }
        var result = self
        result.text = "+\(text)"
        return result
    }

    var parenthesized: SQLFragment {
        var result = self
        result.text = "(\(text))"
        result.level = .primary
        result.nesting += 1
        return result
    }

    /// The condition as a value that is true or false, never null.
    var truth: SQLFragment { isNeverNull ? self : followed(by: "IS TRUE") }

    /// A condition that is true where this one is not.
    var negated: SQLFragment { followed(by: "IS NOT TRUE") }
}

/// Joins conditions by AND or OR within SQLite's limits: expressions up to 1,000 levels deep, and parentheses up to
/// about thirty levels deep.
enum ConditionGroup {
    /// The depth of parentheses from which groups are written without them.
    private static let maximumNesting = 10

    /// Returns a condition that requires all of the terms, or any of them.
    static func combine(_ terms: [SQLFragment], all: Bool) -> SQLFragment {
        guard let deepest = terms.indices.max(by: { terms[$0].nesting < terms[$1].nesting }) else {
            return all ? .true : .false
        }
        guard terms.count > 1 else { return terms[0] }
        guard terms[deepest].nesting < maximumNesting else { return flat(terms, deepest, all: all) }
        return balanced(terms[...], all: all)
    }

    /// Builds a balanced tree, in which thousands of terms are about a dozen levels deep.
    private static func balanced(_ terms: ArraySlice<SQLFragment>, all: Bool) -> SQLFragment {
        guard terms.count > 1 else { return terms[terms.startIndex] }
        let middle = terms.startIndex + terms.count / 2
        let left = balanced(terms[..<middle], all: all)
        let right = balanced(terms[middle...], all: all)
        return .binary(left, all ? "AND" : "OR", right, all ? .and : .or)
    }

    /// Uses `&` and `|` over exact truth values. They have equal precedence and associate to the left, so nested groups
    /// need no parentheses if the deepest term comes first, however often AND and OR alternate. Such a condition cannot
    /// use an index, but neither could a tree of this depth.
    private static func flat(_ terms: [SQLFragment], _ deepest: Int, all: Bool) -> SQLFragment {
        var others = terms
        let first = others.remove(at: deepest).truth
        return .binary(first, all ? "&" : "|", combine(others, all: all).truth, .bits)
    }
}
