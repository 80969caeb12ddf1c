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

    /// - Returns: The entry point of the predicate.
    mutating func compile(_ predicate: RowPredicate) throws(StoreError) -> CompiledFilter.Label {
        typealias Label = CompiledFilter.Label
        // The successor `nil` is the condition that is written just before this one and evaluated just after it.
        var pending: [(node: RowPredicate, ifTrue: Label?, ifFalse: Label?)] = [(predicate, Label.accept, Label.reject)]
        while let (node, ifTrue, ifFalse) = pending.popLast() {
            let (yes, no) = (ifTrue ?? entry, ifFalse ?? entry)
            switch node {
            case .not(let term): pending.append((term, no, yes))
            case .and(let terms):
                entry = yes
                for term in terms.dropLast() { pending.append((term, nil, no)) }
                if let last = terms.last { pending.append((last, yes, no)) }
            case .or(let terms):
                entry = no
                for term in terms.dropLast() { pending.append((term, yes, nil)) }
                if let last = terms.last { pending.append((last, yes, no)) }
            default:
                entry = try begin(condition(node), ifTrue: yes, ifFalse: no)
            }
        }
        return entry
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
