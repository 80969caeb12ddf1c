/// A predicate compiled for evaluation on the bytes of many rows, without creating values or strings. All filtering of
/// rows in the process uses it, except that of the ``Evaluator`` itself.
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

    /// The columns of the rows.
    package let shape: RowShape
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

    /// The maximum length in bytes of a text that a search may compare with a text at every position. A longer one is
    /// left to the evaluator, whose search takes time in proportion to the sum of both lengths, not to their product.
    package static let maximumNeedle = 64

    /// Creates the filter for rows of `shape`, which may lack columns of the table.
    ///
    /// - Parameters:
    ///   - predicate: A condition that is valid for the table; see ``Evaluator/validate(_:)``.
    ///   - table: The evaluator of the table.
    ///   - shape: The columns of the rows.
    ///   - wholeRows: The layout of most rows, for the pre-filter, or `nil` if there is none.
    /// - Throws: The errors of ``Evaluator/compile(_:for:)``.
    package init(
        _ predicate: RowPredicate, of table: Evaluator, for shape: RowShape, wholeRows: RowLayout? = nil
    ) throws(StoreError) {
        self.shape = shape
        var compiler = FilterCompiler(table, shape)
        start = try compiler.compile(predicate)
        steps = compiler.steps
        constants = compiler.constants
        readsColumnsOnly = steps.allSatisfy { $0.test.readsColumnsOnly }
        first =
            if let wholeRows {
                PreFilter(of: steps, from: start, constants, in: shape, packedAs: wholeRows)
            } else { nil }
    }

    /// Returns whether the row satisfies the predicate, which must be one that ``readsColumnsOnly``.
    ///
    /// The caller guarantees that the row has the columns of ``shape``, which bytes do not show.
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
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch`` if the row has other columns than ``shape``;
    ///   ``StoreError/Code/corrupt`` if it is damaged.
    package func matches(_ row: borrowing RowView) throws(StoreError) -> Bool {
        let bytes = try bytes(of: row)
        do throws(RowDamage) {
            return try follow { test throws(RowDamage) in
                guard case .predicate(let index) = test else { return try test.holds(bytes, constants) }
                return constants.predicates[index].matches(row)
            }
        } catch {
            throw damage
        }
    }

    /// Returns whether the row satisfies the predicate, as ``matches(_:)-(RowView)`` does.
    ///
    /// - Throws: Also ``StoreError/Code/timeLimit`` and ``StoreError/Code/cancelled``, and
    ///   ``StoreError/Code/unsupportedQuery`` if the values of one condition need too much memory.
    package func matches(
        _ row: borrowing RowView, within limit: inout EvaluationLimit
    ) throws(StoreError) -> Bool {
        let bytes = try bytes(of: row)
        let size = unsafe row.packed.count
        return try follow { test throws(StoreError) in
            if case .predicate(let index) = test {
                return try constants.predicates[index].matches(row, within: &limit)
            }
            // A search reads the whole text of a column.
            try limit.spend(size)
            do throws(RowDamage) {
                return try test.holds(bytes, constants)
            } catch {
                throw damage
            }
        }
    }

    /// Follows the results of the tests to that of the filter.
    @inline(__always)
    private func follow<Failure>(_ holds: (RowTest) throws(Failure) -> Bool) throws(Failure) -> Bool {
        var label = start
        while label.position >= 0 {
            let step = steps[Int(label.position)]
            label = try holds(step.test) ? step.ifTrue : step.ifFalse
        }
        return label == .accept
    }

    /// Returns the bytes of a row, which must have the columns that the filter was compiled for.
    @inline(__always)
    private func bytes(of row: borrowing RowView) throws(StoreError) -> RowBytes {
        guard row.shape === shape || row.shape.hasSameColumns(as: shape) else {
            throw StoreError(
                .schemaMismatch, "a filter was compiled for rows with other columns; compile it again",
                table: shape.table)
        }
        guard let bytes = RowBytes(row) else { throw damage }
        return bytes
    }

    private var damage: StoreError { StoreError(.corrupt, "a stored row is damaged", table: shape.table) }
}
