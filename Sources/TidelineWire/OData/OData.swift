public import TidelineStore

/// Predicates and orders as the protocol's text, both ways: the options `$filter` and `$orderby`.
///
/// The syntax is that of the ZUMO 2 back ends, an early OData. Text here is plain; percent-encoding it into a URL is
/// the dialect's work.
///
/// ## What a round trip keeps
/// Reading what was written gives the predicate back but for what the syntax has no word for:
/// - A membership becomes a chain of `or`; in no values, `false`.
/// - `equalsIgnoringCase` becomes the equality of two `tolower`, of which a literal is lowered already.
/// - `and` within `and`, `or` within `or` become one flat node; of no terms, `true` and `false`; of one term, the term
///   itself, or `term and true`, `term or false` where null would make a difference to the operand of a comparison.
/// - JSON, and bytes as base64, are string literals, typed again when read if they are compared with a column that
///   `schema` defines.
///
/// ## Literals and the columns that they are compared with
/// Where a comparison has a column that `schema` defines on one side and a string literal on the other, the literal
/// takes the column's type, in reading and in writing: an instant for a timestamp column, bytes from base64 for a bytes
/// column, JSON for a JSON column. One that is not of that form is an error. Nothing else is converted: stores compare
/// ints with doubles as they are.
///
/// Filters nest at most 1,000 levels deep; terms of one `and` or `or` are not limited.
public enum OData {
    /// How deep a filter may nest. Stores and other servers walk the tree by recursion; their stack must last.
    static let maximumDepth = 1_000

    static var tooDeep: WireError {
        WireError(.invalidFilter, "the filter is nested more than \(maximumDepth) levels deep")
    }

    /// The text of a predicate for `$filter`.
    ///
    /// - Parameter schema: The table's definition, if there is one. Columns it lacks are written all the same: the
    ///   server's table may have more of them.
    /// - Throws: ``WireError/Code/invalidFilter``, naming the column: a name that is no identifier, a literal that does
    ///   not fit its column, NaN or an infinity, a function with the wrong number of operands, more than 1,000 levels.
    public static func filter(_ predicate: Predicate, schema: TableSchema?) throws(WireError) -> String {
        var writer = FilterWriter(types: LiteralTypes(schema))
        return try writer.write(predicate)
    }

    /// The text of a `$filter` that is true on every server for the rows for which the ``TidelineStore/Evaluator`` holds
    /// the predicate to be true.
    ///
    /// Where a value is null, SQL takes a comparison, and its opposite, to be neither true nor false. The text names the
    /// rows that a server over SQL would leave out: `priority != 3` is `priority ne 3 or priority eq null`. Columns that
    /// `schema` declares as not optional have no nulls.
    /// - Throws: As ``filter(_:schema:)``.
    public static func portableFilter(_ predicate: Predicate, schema: TableSchema?) throws(WireError) -> String {
        try filter(NullLogic(schema).rewritten(predicate), schema: schema)
    }

    /// The predicate that the text of a `$filter` means.
    ///
    /// Beyond what ``filter(_:schema:)`` writes, read are `datetime'…'`, `guid'…'` (a string), `binary'…'` and `X'…'`
    /// (bytes in hexadecimal), the suffixes `d`, `f` and `m` of doubles, `contains(text,part)`, and a minus before any
    /// operand. A whole number without a suffix that does not fit 64 bits is a double.
    /// - Parameter schema: The table's definition. With it, a column that it lacks is an error.
    /// - Throws: ``WireError/Code/invalidFilter`` with the offset in UTF-8 bytes and what was expected there.
    public static func parseFilter(_ text: String, schema: TableSchema?) throws(WireError) -> Predicate {
        var parser = FilterParser(text, types: LiteralTypes(schema))
        return try parser.parse()
    }

    /// The text of an order for `$orderby`: `due desc,text`.
    ///
    /// Names are written as they are; ``requireIdentifier(_:)`` tells those that cannot be read back.
    public static func orderBy(_ terms: [OrderTerm]) -> String {
        terms.map { $0.isDescending ? "\($0.column) desc" : $0.column }.joined(separator: ",")
    }

    /// The order that the text of a `$orderby` means; none for an empty text.
    ///
    /// - Throws: ``WireError/Code/invalidFilter`` with the offset in UTF-8 bytes.
    public static func parseOrderBy(_ text: String) throws(WireError) -> [OrderTerm] {
        var lexer = FilterLexer(text)
        var terms: [OrderTerm] = []
        guard try lexer.peek().kind != .end else { return [] }
        while true {
            guard case .word(let column) = try lexer.peek().kind else { throw try lexer.expected("a column") }
            try lexer.advance()
            var term = OrderTerm(column)
            if case .word(let direction) = try lexer.peek().kind, ["asc", "desc"].contains(direction) {
                term.isDescending = direction == "desc"
                try lexer.advance()
            }
            terms.append(term)
            switch try lexer.peek().kind {
            case .end: return terms
            case .comma: try lexer.advance()
            default: throw try lexer.expected("asc, desc, a comma or the end")
            }
        }
    }

    /// Checks that a column's name can be said in filters, orders and selections: letters, digits, `_` and `.`, not
    /// beginning with a digit or dot, and not one of `not`, `null`, `true`, `false`.
    ///
    /// - Throws: ``WireError/Code/invalidFilter``, naming the column.
    public static func requireIdentifier(_ name: String) throws(WireError) {
        let scalars = name.unicodeScalars
        guard let first = scalars.first, first.startsIdentifier, scalars.allSatisfy(\.continuesIdentifier),
            FilterKeyword(rawValue: name) == nil
        else {
            throw WireError(
                .invalidFilter, "the name of this column cannot be said in a query to the server", column: name)
        }
    }
}
