/// The time until which the queries of a reader must end; see ``StoreReader/limitTime``.
package struct QueryTimeLimit: Sendable {
    private let end: ContinuousClock.Instant

    /// Creates a limit, starting the clock.
    package init(_ duration: Duration) { end = .now + duration }

    /// The time that is left; negative if it is over.
    package var remaining: Duration { end - .now }

    /// Whether the time is over.
    package var isExceeded: Bool { ContinuousClock.now >= end }

    /// The error of a query that takes longer.
    package static var error: StoreError {
        StoreError(
            .timeLimit, "the query took longer than its time limit; add a condition, or an index for its columns")
    }

    /// Throws the error if the time is over.
    package func check() throws(StoreError) {
        if isExceeded { throw Self.error }
    }
}

/// The limits of evaluating a query from an untrusted source: time, and memory for the texts that its functions create.
///
/// Ten nested `replace` calls can turn a short text into terabytes. A server that evaluates its clients' filters counts
/// the bytes before it creates them.
package struct EvaluationLimit {
    private let limit: QueryTimeLimit
    fileprivate let maximumBytes: Int
    /// The number of bytes of the values on the stack.
    fileprivate var bytes = 0
    /// The work since the clock was last read, in bytes and steps, for all rows together.
    private var work = 0

    /// Creates a limit, starting the clock.
    ///
    /// - Parameters:
    ///   - time: The maximum time for all rows together, from now on.
    ///   - bytes: The maximum number of bytes of the values on the stack for one condition of one row.
    package init(time: Duration, bytes: Int) {
        limit = QueryTimeLimit(time)
        maximumBytes = bytes
    }

    /// Counts a value that is pushed on the stack. If its size is known in advance, it is counted before it is created.
    fileprivate mutating func push(_ count: Int) throws(StoreError) {
        bytes += count
        guard bytes <= maximumBytes else {
            throw StoreError(
                .unsupportedQuery, "the filter creates texts of more than \(maximumBytes) bytes for one row; shorten it"
            )
        }
        try spend(count)
    }

    /// Counts values that are removed from the stack.
    fileprivate mutating func pop(_ count: Int) throws(StoreError) {
        bytes -= count
        try spend(count)
    }

    /// Counts work, and periodically checks the clock and whether the task is cancelled.
    mutating func spend(_ amount: Int) throws(StoreError) {
        work += amount + 1
        guard work >= 1 << 16 else { return }
        work = 0
        try limit.check()
        if Task.isCancelled { throw StoreError(.cancelled, "the task was cancelled") }
    }
}

extension CompiledPredicate {
    /// Returns whether the row satisfies the predicate, as ``matches(_:)`` does.
    ///
    /// - Throws: The errors of the limit.
    func matches(_ row: borrowing RowView, within limit: inout EvaluationLimit) throws(StoreError) -> Bool {
        limit.bytes = 0
        var stack: [Value] = []
        for step in steps {
            let operands = stack[(stack.count - step.operandCount)...]
            let taken = operands.reduce(0) { $0 + $1.textSize }
            let expected = step.resultSize(of: operands, upTo: limit.maximumBytes)
            try limit.push(expected)
            CompiledPredicate.run(step, row, &stack)
            try limit.pop(taken + expected)
            try limit.push(stack.last?.textSize ?? 0)
        }
        return stack.removeLast() == .bool(true)
    }
}

extension CompiledPredicate.Step {
    /// The number of values that the step removes from the stack.
    fileprivate var operandCount: Int {
        switch self {
        case .id, .column, .literal: 0
        case .not, .membership: 1
        case .comparison, .arithmetic: 2
        case .and(let count), .or(let count), .function(_, let count): count
        }
    }

    /// Returns the number of bytes of the text that the step creates from these operands, counted up to `limit`.
    fileprivate func resultSize(of operands: ArraySlice<Value>, upTo limit: Int) -> Int {
        guard case .function(let function, _) = self, let first = operands.first else { return 0 }
        switch function {
        case .lower, .upper, .trim, .substring: return first.textSize
        case .concat: return operands.reduce(0) { $0 + $1.textSize }
        case .replace:
            let texts = operands.compactMap(\.string)
            return texts.count == 3 ? texts[0].sizeReplacingUTF8(texts[1], with: texts[2], upTo: limit) : 0
        default: return 0
        }
    }
}

extension Value {
    /// The number of bytes of the value on the heap.
    fileprivate var textSize: Int {
        switch self {
        case .string(let text), .json(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .null, .bool, .int, .double, .timestamp: 0
        }
    }
}
