import Testing
import TidelineStore

@testable import TidelineWire

/// Rule F15: long rows of `or` and `and` are balanced trees.
struct LongFilterTests {
    /// Returns the greatest number of nested terms if a parser nests each `or` in the one before.
    private static func depth(of text: String) -> Int {
        var (open, deepest): ([Int], Int) = ([1], 1)
        for word in text.replacing("(", with: " ( ").replacing(")", with: " ) ").split(separator: " ") {
            switch word {
            case "(": open.append(1)
            case ")": open.removeLast()
            case "or", "and": open[open.count - 1] += 1
            default: continue
            }
            deepest = max(deepest, open.reduce(0, +))
        }
        return deepest
    }

    private static func equal(_ number: Int) -> RowPredicate { .column("a") == .value(number) }

    static let forms: [(String, @Sendable (Int) -> RowPredicate)] = [
        ("a list", { count in .column("a").isIn((0..<count).map { .int(Int64($0)) }) }),
        ("an or", { count in .or((0..<count).map(equal)) }),
        ("an and", { count in .and((0..<count).map(equal)) }),
        ("operators", { count in (1..<count).reduce(equal(0)) { $0 || equal($1) } }),
        (
            "operators from the right",
            { count in (0..<count - 1).reversed().reduce(equal(count - 1)) { equal($1) || $0 } }
        ),
        (
            "lists",
            { count in .or((0..<count / 2).map { .column("a").isIn([.int(Int64($0 * 2)), .int(Int64($0 * 2 + 1))]) }) }
        ),
    ]

    @Test(arguments: forms.indices, [2, 16, 100, 500])
    func `a long row is written as a balanced tree`(_ form: Int, count: Int) throws {
        let predicate = Self.forms[form].1(count)
        let text = try OData.filter(predicate, schema: nil)
        #expect(Self.depth(of: text) < 40, "\(Self.forms[form].0)")
        #expect(text.contains("(") == (count > 16))
        let back = try OData.parseFilter(text, schema: nil)
        #expect(try OData.filter(back, schema: nil) == text)
        let numbers = text.matches(of: /a eq (\d+)/).compactMap { Int($0.output.1) }
        #expect(numbers == Array(0..<count))
    }

    @Test func `a long row within another kind, or negated, keeps its parentheses`() throws {
        let list = RowPredicate.column("a").isIn((0..<40).map { .int($0) })
        let text = try OData.filter(!list && .column("b") == 1 && list, schema: nil)
        #expect(text.hasPrefix("not (((a eq 0 or "))
        #expect(text.contains(") and b eq 1 and (((a eq 0 or "))
        #expect(try OData.filter(OData.parseFilter(text, schema: nil), schema: nil) == text)
    }
}
