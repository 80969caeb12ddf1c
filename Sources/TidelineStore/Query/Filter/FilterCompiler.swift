/// Compiles a predicate to the steps of a ``CompiledFilter``.
///
/// It traverses the tree without recursion from the last condition to the first, so that the successors of a condition
/// are known before the condition is written.
struct FilterCompiler {
    let table: Evaluator
    /// The columns of the rows.
    let shape: RowShape
    private(set) var steps: [CompiledFilter.Step] = []
    var constants = CompiledFilter.Constants()
    /// The entry point of the condition that was written last.
    private var entry = CompiledFilter.Label.accept

    init(_ table: Evaluator, _ shape: RowShape) {
        self.table = table
        self.shape = shape
    }

    /// The successor of a condition.
    private enum Target {
        case label(CompiledFilter.Label)
        /// The condition that is written just before this one and evaluated just after it.
        case next
    }

    /// - Returns: The entry point of the predicate.
    mutating func compile(_ predicate: RowPredicate) throws(StoreError) -> CompiledFilter.Label {
        var pending: [(node: RowPredicate, ifTrue: Target, ifFalse: Target)] = [
            (predicate, .label(.accept), .label(.reject))
        ]
        while let (node, ifTrue, ifFalse) = pending.popLast() {
            let (yes, no) = (resolve(ifTrue), resolve(ifFalse))
            switch node {
            case .not(let term): pending.append((term, .label(no), .label(yes)))
            case .and(let terms):
                entry = yes
                pending.append(contentsOf: terms.dropLast().map { ($0, .next, .label(no)) })
                if let last = terms.last { pending.append((last, .label(yes), .label(no))) }
            case .or(let terms):
                entry = no
                pending.append(contentsOf: terms.dropLast().map { ($0, .label(yes), .next) })
                if let last = terms.last { pending.append((last, .label(yes), .label(no))) }
            default:
                entry = try begin(condition(node), ifTrue: yes, ifFalse: no)
            }
        }
        return entry
    }

    private func resolve(_ target: Target) -> CompiledFilter.Label {
        switch target {
        case .label(let label): label
        case .next: entry
        }
    }

    /// Writes the tests of a condition, at least one of which must hold, and returns their entry point.
    private mutating func begin(
        _ condition: Condition, ifTrue: CompiledFilter.Label, ifFalse: CompiledFilter.Label
    ) -> CompiledFilter.Label {
        let (yes, no) = condition.isNegated ? (ifFalse, ifTrue) : (ifTrue, ifFalse)
        var label = no
        for test in condition.tests.reversed() {
            steps.append(CompiledFilter.Step(test: test, ifTrue: yes, ifFalse: label))
            label = CompiledFilter.Label(position: Int32(steps.count - 1))
        }
        return label
    }

    /// A condition without `and`, `or`, and `not` at its top: any of these tests holds, or none if it is negated.
    struct Condition {
        var tests: [RowTest]
        var isNegated = false

        static let never = Condition(tests: [])
        static let always = Condition(tests: [], isNegated: true)
    }
}
