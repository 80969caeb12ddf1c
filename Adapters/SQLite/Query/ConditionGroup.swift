/// Joins conditions by AND or OR within SQLite's limits: expressions up to 1,000 levels deep, and parentheses up to
/// about thirty levels deep.
enum ConditionGroup {
    /// The depth of parentheses from which groups are written without them.
    private static let maximumNesting = 10

    /// Returns a condition that requires all of the terms, or any of them.
    static func combine(_ terms: [SQLFragment], all: Bool) -> SQLFragment {
        guard let deepest = terms.indices.max(by: { terms[$0].nesting < terms[$1].nesting }) else {
            return all ? .true : .false
        }
        guard terms.count > 1 else { return terms[0] }
        guard terms[deepest].nesting < maximumNesting else { return flat(terms, deepest, all: all) }
        return balanced(terms[...], all: all)
    }

    /// Builds a balanced tree, in which thousands of terms are about a dozen levels deep.
    private static func balanced(_ terms: ArraySlice<SQLFragment>, all: Bool) -> SQLFragment {
        guard terms.count > 1 else { return terms[terms.startIndex] }
        let middle = terms.startIndex + terms.count / 2
        let left = balanced(terms[..<middle], all: all)
        let right = balanced(terms[middle...], all: all)
        return .binary(left, all ? "AND" : "OR", right, all ? .and : .or)
    }

    /// Uses `&` and `|` over exact truth values. They have equal precedence and associate to the left, so nested groups
    /// need no parentheses if the deepest term comes first, however often AND and OR alternate. Such a condition cannot
    /// use an index, but neither could a tree of this depth.
    private static func flat(_ terms: [SQLFragment], _ deepest: Int, all: Bool) -> SQLFragment {
        var others = terms
        let first = others.remove(at: deepest).truth
        var result = SQLFragment.binary(first, all ? "&" : "|", combine(others, all: all).truth, .bits)
        result.isNeverNull = true
        return result
    }
}
