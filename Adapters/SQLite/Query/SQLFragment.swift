internal import TidelineStore

/// A piece of an SQL expression with what is known of it.
struct SQLFragment {
    var text: String
    /// Which of the compiler's values its parameters are, in the order of its text. They have no numbers there: SQLite
    /// takes the longer for each that has one, the more there are.
    var places: [Int] = []
    /// How tightly its outermost operator binds.
    var level: Level
    /// What is known of its value.
    var type: OperandType
    /// Whether it is never null.
    var isNeverNull = false
    /// Whether its value is a literal NaN, which SQLite has not: it is bound as null.
    var isNaN = false
    /// Whether it is the column `id` of a table whose ids fold case.
    var foldsCase = false
    /// How deep parentheses nest in it. SQLite's parser takes about thirty to forty levels.
    var nesting = 0

    /// The precedence of SQL's operators, the loosest first.
    enum Level: Int, Comparable {
        case or, and, equality, inequality, bits, addition, multiplication, concatenation, collation, primary

        static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    /// An operand that stands for itself.
    static func primary(_ text: String, _ type: OperandType, isNeverNull: Bool = false) -> SQLFragment {
        SQLFragment(text: text, level: .primary, type: type, isNeverNull: isNeverNull)
    }

    static let null = primary("NULL", .null)
    static let `true` = primary("1", .value(.bool), isNeverNull: true)
    static let `false` = primary("0", .value(.bool), isNeverNull: true)

    /// Two operands and the operator between them, in no more parentheses than it needs: operators of one level group
    /// from the left, so that a tree that is deep on its left side only is a flat text.
    static func binary(
        _ left: SQLFragment, _ symbol: String, _ right: SQLFragment, _ level: Level, type: OperandType = .value(.bool)
    ) -> SQLFragment {
        let a = left.level < level ? left.parenthesized : left
        let b = right.level <= level ? right.parenthesized : right
        return SQLFragment(
            text: "\(a.text) \(symbol) \(b.text)", places: a.places + b.places, level: level, type: type,
            isNeverNull: left.isNeverNull && right.isNeverNull, nesting: max(a.nesting, b.nesting))
    }

    static func call(_ function: String, _ operands: [SQLFragment], type: OperandType) -> SQLFragment {
        SQLFragment(
            text: "\(function)(\(operands.map(\.text).joined(separator: ", ")))", places: operands.flatMap(\.places),
            level: .primary, type: type, isNeverNull: false, nesting: 1 + (operands.map(\.nesting).max() ?? 0))
    }

    /// The expression followed by an operator of one operand, such as `IS NULL`.
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

    var parenthesized: SQLFragment {
        var result = self
        result.text = "(\(text))"
        result.level = .primary
        result.nesting += 1
        return result
    }

    /// The condition as a value, true or false and never null.
    var truth: SQLFragment { isNeverNull ? self : followed(by: "IS TRUE") }

    /// True where the condition is not.
    var negated: SQLFragment { followed(by: "IS NOT TRUE") }
}
