/// Joins conditions by AND or OR within what SQLite takes: expressions up to 1,000 levels deep, and parentheses up to
/// some thirty.
enum ConditionGroup {
    /// From this nesting of parentheses on, groups are written without.
    private static let maximumNesting = 10

    /// All of the conditions, or any of them.
    static func combine(_ terms: [SQLFragment], all: Bool) -> SQLFragment {
        guard let deepest = terms.indices.max(by: { terms[$0].nesting < terms[$1].nesting }) else {
            return all ? .true : .false
        }
        guard terms.count > 1 else { return terms[0] }
        guard terms[deepest].nesting < maximumNesting else { return flat(terms, deepest, all: all) }
        return balanced(terms[...], all: all)
    }

    /// As a balanced tree: thousands of terms are a dozen levels.
    private static func balanced(_ terms: ArraySlice<SQLFragment>, all: Bool) -> SQLFragment {
        guard terms.count > 1 else { return terms[terms.startIndex] }
        let middle = terms.startIndex + terms.count / 2
        let left = balanced(terms[..<middle], all: all)
        let right = balanced(terms[middle...], all: all)
        return .binary(left, all ? "AND" : "OR", right, all ? .and : .or)
    }

    /// With `&` and `|` over exact truth values, which bind alike and group from the left: nested groups with the deep
    /// one first need no parentheses, however often AND and OR alternate. No index serves them, nor would one serve
    /// such a tree.
    private static func flat(_ terms: [SQLFragment], _ deepest: Int, all: Bool) -> SQLFragment {
        var others = terms
        let first = others.remove(at: deepest).truth
        var result = SQLFragment.binary(first, all ? "&" : "|", combine(others, all: all).truth, .bits)
        result.isNeverNull = true
        return result
    }
}
