/// Rounding and remainder functions. Integers give integers; SQLite turns a NaN result into null.
enum NumberFunction {
    static func round(_ arguments: borrowing SQLArguments) -> SQLResult {
        rounded(arguments, .toNearestOrAwayFromZero)
    }

    static func floor(_ arguments: borrowing SQLArguments) -> SQLResult { rounded(arguments, .down) }

    static func ceiling(_ arguments: borrowing SQLArguments) -> SQLResult { rounded(arguments, .up) }

    private static func rounded(
        _ arguments: borrowing SQLArguments, _ rule: FloatingPointRoundingRule
    ) -> SQLResult {
        arguments.isInt(0) ? .int(arguments.int(0)) : .double(arguments.double(0).rounded(rule))
    }

    /// Returns the remainder. SQLite's own `%` truncates doubles to integers first.
    static func modulo(_ arguments: borrowing SQLArguments) -> SQLResult {
        guard arguments.isInt(0), arguments.isInt(1) else {
            return .double(arguments.double(0).truncatingRemainder(dividingBy: arguments.double(1)))
        }
        let divisor = arguments.int(1)
        if divisor == 0 { return .null }
        return .int(divisor == -1 ? 0 : arguments.int(0) % divisor)
    }
}
