/// What is known of a predicate's value before any row is read; every operand may also be null.
public enum OperandType: Sendable, Hashable {
    /// Null and nothing else.
    case null
    /// A value of that type.
    case value(ColumnType)
    /// An int, or a double where the arithmetic of ints overflowed.
    case number

    /// Whether the operand may stand as a condition: a bool, or null, which counts as false.
    public var isCondition: Bool { isNullOr(.bool) }

    /// Whether the operand is an int, a double or null.
    public var isNumeric: Bool { self == .number || isNullOr(.int) || isNullOr(.double) }

    /// Whether the operand is null or of that type.
    public func isNullOr(_ type: ColumnType) -> Bool { self == .null || self == .value(type) }
}

extension Predicate.Function {
    /// The type of the function's result over operands of these types, or nil when it does not take them.
    ///
    /// The operands must be as many as ``arity`` says.
    public func resultType(of operands: [OperandType]) -> OperandType? {
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

extension Predicate.Arithmetic {
    /// The type of the result over operands of these types, or nil when one is not a number.
    public func resultType(of a: OperandType, _ b: OperandType) -> OperandType? {
        guard a.isNumeric, b.isNumeric else { return nil }
        if a == .null || b == .null { return .null }
        return a == .value(.double) || b == .value(.double) ? .value(.double) : .number
    }
}
