internal import TidelineStore

/// A predicate made ready to be asked of many rows where they lie: no value and no string is made of any.
///
/// The tree becomes a list of tests, each of which says where to go on when it holds and where when it does not, so
/// that `and`, `or` and `not` cost nothing when a row is looked at, and no tree is too deep. What has no test of its own,
/// such as arithmetic, is left to the evaluator's ``CompiledPredicate``; the answers are the evaluator's always.
final class RowFilter: Sendable {
    /// A test and where to go on from it.
    struct Step: Sendable {
        let test: RowTest
        let ifTrue: Label
        let ifFalse: Label
    }

    /// The position of a step, or the answer.
    struct Label: Hashable, Sendable {
        let position: Int32
        static let accept = Label(position: -1)
        static let reject = Label(position: -2)
    }

    let steps: [Step]
    let start: Label
    let constants: Constants
    /// Whether the bytes of columns are all that is asked for: no id, and nothing that is left to the evaluator.
    let readsColumnsOnly: Bool
    /// What most rows are asked first.
    let first: FirstTest?

    /// What tests compare with, apart from them: a test without references is read without counting any.
    struct Constants: Sendable {
        /// The bytes of all texts.
        var bytes: [UInt8] = []
        /// Words, in order within each set.
        var words: [Int64] = []
        /// Texts, in order within each set.
        var texts: [RowTest.Text] = []
        /// Conditions without a test of their own.
        var predicates: [CompiledPredicate] = []
    }

    /// The filter for rows of the table, read in full.
    ///
    /// - Throws: What ``Evaluator/compile(_:for:)`` throws.
    init(_ predicate: Predicate, of table: StoredTable) throws(StoreError) {
        var compiler = RowFilterCompiler(table)
        start = try compiler.compile(predicate)
        steps = compiler.steps
        constants = compiler.constants
        readsColumnsOnly = steps.allSatisfy { $0.test.readsColumnsOnly }
        first = FirstTest(of: steps, from: start, constants, in: table)
    }

    /// Whether the row satisfies the predicate, which ``readsColumnsOnly``.
    ///
    /// Unsafe pointers: a label is a step's position or below zero, see ``RowFilterCompiler``.
    func matches(_ row: RowBytes) throws(RowDamage) -> Bool {
        try steps.withUnsafeBufferPointer { steps throws(RowDamage) in
            var label = start
            while label.position >= 0 {
                let step = Int(label.position)
                label = try steps[step].test.holds(row, constants) ? steps[step].ifTrue : steps[step].ifFalse
            }
            return label == .accept
        }
    }

    /// Whether the row satisfies the predicate.
    func matches(_ row: borrowing RowView) throws(RowDamage) -> Bool {
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
