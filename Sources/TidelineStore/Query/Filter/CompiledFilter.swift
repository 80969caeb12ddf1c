/// A predicate compiled for evaluation on the stored bytes of many rows, without creating values or strings.
///
/// The tree is compiled to a list of tests. Each test has a successor for either outcome, so `and`, `or`, and `not`
/// cost nothing at run time, and a tree may have any depth. Conditions without a test of their own, such as arithmetic,
/// use the evaluator's ``CompiledPredicate``. The results are always those of the evaluator.
package final class CompiledFilter: Sendable {
    /// A test and its successors.
    struct Step: Sendable {
        let test: RowTest
        let ifTrue: Label
        let ifFalse: Label
    }

    /// The position of a step, or the result.
    struct Label: Hashable, Sendable {
        let position: Int32
        static let accept = Label(position: -1)
        static let reject = Label(position: -2)
    }

    let steps: [Step]
    let start: Label
    let constants: Constants
    /// Whether the filter reads only the bytes of columns: no identifier, and no condition that requires the evaluator.
    package let readsColumnsOnly: Bool
    /// The pre-filter, which is evaluated first for most rows.
    @usableFromInline package let first: PreFilter?

    /// The constants of the tests, stored separately so that reading a test involves no reference counting.
    struct Constants: Sendable {
        /// The bytes of all texts.
        var bytes: [UInt8] = []
        /// The words, in ascending order within each set.
        var words: [Int64] = []
        /// The texts, in ascending order within each set.
        var texts: [RowTest.Text] = []
        /// The conditions without a test of their own.
        var predicates: [CompiledPredicate] = []
    }

    /// Creates the filter for rows that have the columns of the table's definition.
    ///
    /// - Parameters:
    ///   - predicate: The predicate.
    ///   - table: The evaluator of the table.
    ///   - wholeRows: The layout of most rows, for the pre-filter, or `nil` if there is none.
    /// - Throws: The errors of ``Evaluator/compile(_:for:)``.
    package init(_ predicate: RowPredicate, of table: Evaluator, wholeRows: RowLayout?) throws(StoreError) {
        var compiler = FilterCompiler(table)
        start = try compiler.compile(predicate)
        steps = compiler.steps
        constants = compiler.constants
        readsColumnsOnly = steps.allSatisfy { $0.test.readsColumnsOnly }
        first =
            if let wholeRows {
                PreFilter(of: steps, from: start, constants, in: table.definition, packedAs: wholeRows)
            } else { nil }
    }

    /// Returns whether the row satisfies the predicate, which must be one that ``readsColumnsOnly``.
    ///
    /// Unsafe pointers: a label is the position of a step or negative; see ``FilterCompiler``.
    package func matches(_ row: RowBytes) throws(RowDamage) -> Bool {
        try unsafe steps.withUnsafeBufferPointer { steps throws(RowDamage) in
            var label = start
            while label.position >= 0 {
                let step = Int(label.position)
                label = try unsafe steps[step].test.holds(row, constants) ? steps[step].ifTrue : steps[step].ifFalse
            }
            return label == .accept
        }
    }

    /// Returns whether the row satisfies the predicate.
    package func matches(_ row: borrowing RowView) throws(RowDamage) -> Bool {
        guard let bytes = RowBytes(row) else { throw RowDamage() }
        var label = start
        while label.position >= 0 {
            let step = steps[Int(label.position)]
            let holds: Bool
            if case .predicate(let index) = step.test {
                holds = constants.predicates[index].matches(row)
            } else {
                holds = try step.test.holds(bytes, constants)
            }
            label = holds ? step.ifTrue : step.ifFalse
        }
        return label == .accept
    }
}
