internal import TidelineStore

/// The reserved words, which may appear in place of an operand and so cannot be column names.
enum FilterKeyword: String {
    case not, null, `true`, `false`
}

/// The precedence of a part of a filter. A greater value binds more tightly.
enum FilterPrecedence: Int, Comparable {
    case or, and, equality, relation, sum, product, prefix, primary

    static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// The next higher precedence.
    var tighter: Self { Self(rawValue: rawValue + 1) ?? .primary }
}

/// The operators between two operands.
enum FilterOperator: Equatable {
    case or, and
    case comparison(RowPredicate.Comparison)
    case arithmetic(RowPredicate.Arithmetic)

    private static let byWord: [String: FilterOperator] = {
        var operators: [String: FilterOperator] = ["or": .or, "and": .and]
        for comparison in RowPredicate.Comparison.allCases { operators[comparison.word] = .comparison(comparison) }
        for operation in RowPredicate.Arithmetic.allCases { operators[operation.word] = .arithmetic(operation) }
        return operators
    }()

    init?(word: String) {
        guard let found = Self.byWord[word] else { return nil }
        self = found
    }

    var precedence: FilterPrecedence {
        switch self {
        case .or: .or
        case .and: .and
        case .comparison(.equal), .comparison(.notEqual): .equality
        case .comparison: .relation
        case .arithmetic(.add), .arithmetic(.subtract): .sum
        case .arithmetic: .product
        }
    }
}

extension RowPredicate.Comparison {
    var word: String {
        switch self {
        case .equal: "eq"
        case .notEqual: "ne"
        case .less: "lt"
        case .lessOrEqual: "le"
        case .greater: "gt"
        case .greaterOrEqual: "ge"
        }
    }
}

extension RowPredicate.Arithmetic {
    var word: String {
        switch self {
        case .add: "add"
        case .subtract: "sub"
        case .multiply: "mul"
        case .divide: "div"
        case .modulo: "mod"
        }
    }

    var precedence: FilterPrecedence { FilterOperator.arithmetic(self).precedence }
}

extension RowPredicate.Function {
    /// The function's name in a filter, or `nil` for `equalsIgnoringCase`, which is written with two calls of
    /// `tolower`.
    var word: String? {
        switch self {
        case .contains: "substringof"
        case .lower: "tolower"
        case .upper: "toupper"
        case .indexOf: "indexof"
        case .startsWith: "startswith"
        case .endsWith: "endswith"
        case .equalsIgnoringCase: nil
        case .length, .substring, .trim, .concat, .replace, .round, .floor, .ceiling, .year, .month, .day, .hour,
            .minute, .second:
            rawValue
        }
    }

    private static let byWord = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { function in function.word.map { ($0, function) } }
            + [("contains", .contains)])

    /// Creates the function with the given name.
    init?(word: String) {
        guard let function = Self.byWord[word] else { return nil }
        self = function
    }

    /// The number of operands that the function takes, for an error message.
    var arityText: String {
        arity.lowerBound == arity.upperBound
            ? "\(arity.lowerBound)" : "\(arity.lowerBound) or \(arity.upperBound)"
    }
}

extension Unicode.Scalar {
    /// Whether a column name may begin with this scalar.
    var startsIdentifier: Bool { self == "_" || (isASCII ? properties.isAlphabetic : properties.isXIDStart) }

    /// Whether a column name may contain this scalar.
    var continuesIdentifier: Bool {
        startsIdentifier || self == "." || (isASCII ? ("0"..."9").contains(self) : properties.isXIDContinue)
    }
}
