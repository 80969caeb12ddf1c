extension RowPredicate.Arithmetic {
    /// Returns the result for two values, or null if one is not a number; see ``Evaluator``.
    func result(of a: Value, _ b: Value) -> Value {
        if case .int(let x) = a, case .int(let y) = b { return result(of: x, y) }
        guard let x = a.roundedDouble, let y = b.roundedDouble else { return .null }
        return result(of: x, y)
    }

    private func result(of x: Int64, _ y: Int64) -> Value {
        let (result, overflow): (Int64, Bool)
        switch self {
        case .add: (result, overflow) = x.addingReportingOverflow(y)
        case .subtract: (result, overflow) = x.subtractingReportingOverflow(y)
        case .multiply: (result, overflow) = x.multipliedReportingOverflow(by: y)
        case .divide, .modulo:
            if y == 0 { return .null }
            if self == .modulo { return .int(y == -1 ? 0 : x % y) }
            (result, overflow) = x.dividedReportingOverflow(by: y)
        }
        return overflow ? self.result(of: Double(x), Double(y)) : .int(result)
    }

    private func result(of x: Double, _ y: Double) -> Value {
        let result =
            switch self {
            case .add: x + y
            case .subtract: x - y
            case .multiply: x * y
            case .divide: y == 0 ? .nan : x / y
            case .modulo: x.truncatingRemainder(dividingBy: y)
            }
        return result.isNaN ? .null : .double(result)
    }
}

extension Value {
    /// The number as the nearest double.
    fileprivate var roundedDouble: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
}
