import Testing
import TidelineStore

/// Operators of predicates and columns have one meaning: without a type, `==` builds a predicate.
@Suite("Operators of predicates")
struct OperatorTests {
    let complete = Column<Bool>("complete")

    @Test("Without a type annotation, == of two predicates is a predicate")
    func predicates() {
        let (a, b) = (RowPredicate.column("text"), RowPredicate.column("title"))
        let same = a == b
        let different = a != b
        #expect(names(same) == ["text", "title"])
        #expect(names(different) == ["text", "title"])
    }

    @Test("== of a column and a value is a predicate, as in the leading-dot syntax")
    func columns() {
        let typed = complete == true
        let query = TableQuery("TodoItem").filter(.column("complete") == true && typed)
        guard case .and(let terms) = query.predicate else {
            Issue.record("not a conjunction")
            return
        }
        #expect(terms.map(names) == [["complete"], ["complete"]])
    }

    @Test("Predicates, queries and columns are not equatable")
    func isNotEquatable() {
        #expect(!(RowPredicate.null as Any is any Equatable))
        #expect(!(TableQuery("TodoItem") as Any is any Equatable))
        #expect(!(complete as Any is any Equatable))
    }

    private func names(_ predicate: RowPredicate) -> [String] {
        guard case .comparison(_, let a, let b) = predicate else { return [] }
        return [a, b].compactMap { if case .column(let name) = $0 { name } else { nil } }
    }
}
