/// The type of a predicate's value as known before any row is read. Every operand may also be null.
public enum OperandType: Sendable, Hashable {
    /// Always null.
    case null
    /// A value of the given type.
    case value(ColumnType)
    /// An int, or a double if the arithmetic of ints overflowed.
    case number

    /// The type of a value.
    init(_ value: Value) { self = value.type.map { .value($0) } ?? .null }

    /// Whether the operand can be a condition: a bool, or null, which counts as false.
    package var isCondition: Bool { isNullOr(.bool) }

    /// Whether the operand is an int, a double or null.
    package var isNumeric: Bool { self == .number || isNullOr(.int) || isNullOr(.double) }

    /// Returns whether the operand is null or of the given type.
    package func isNullOr(_ type: ColumnType) -> Bool { self == .null || self == .value(type) }

    /// Returns whether values of both types can be compared: one is null, both are numbers, or the types are the same.
    package func isComparable(with other: OperandType) -> Bool {
        self == other || self == .null || other == .null || isNumeric && other.isNumeric
    }
}

extension OperandType: CustomStringConvertible {
    /// The name of the type for use in messages.
    public var description: String {
        switch self {
        case .null: "null"
        case .value(let type): type.rawValue
        case .number: "number"
        }
    }
}

extension RowPredicate.Function {
    /// Returns the type of the function's result for operands of these types, or `nil` if it does not accept them.
    ///
    /// The number of operands must match ``arity``.
    package func resultType(of operands: [OperandType]) -> OperandType? {
        guard arity.contains(operands.count), zip(operands.indices, operands).allSatisfy(takes) else { return nil }
        switch self {
        case .equalsIgnoringCase: return .value(.bool)
        case _ where operands.contains(.null): return .null
        case .length, .indexOf, .year, .month, .day, .hour, .minute, .second: return .value(.int)
        case .startsWith, .endsWith, .contains: return .value(.bool)
        case .substring, .lower, .upper, .trim, .concat, .replace: return .value(.string)
        case .round, .floor, .ceiling: return operands[0]
        }
    }

    private func takes(position: Int, type: OperandType) -> Bool {
        switch self {
        case .substring where position > 0: type.isNullOr(.int) || type == .number
        case .round, .floor, .ceiling: type.isNumeric
        case .year, .month, .day, .hour, .minute, .second: type.isNullOr(.timestamp)
        default: type.isNullOr(.string)
        }
    }
}

extension RowPredicate.Arithmetic {
    /// Returns the type of the result for operands of these types, or `nil` if one is not a number.
    package func resultType(of a: OperandType, _ b: OperandType) -> OperandType? {
        guard a.isNumeric, b.isNumeric else { return nil }
        if a == .null || b == .null { return .null }
        return a == .value(.double) || b == .value(.double) ? .value(.double) : .number
    }
}
