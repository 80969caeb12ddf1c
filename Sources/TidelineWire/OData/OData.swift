package import TidelineStore

/// Conversion of predicates and orders to and from the protocol's query options `$filter` and `$orderby`.
///
/// The syntax is that of the ZUMO 2 back ends, an early version of OData, or version 4 (``Syntax``). Both are read. The
/// text is not percent-encoded; the dialect encodes it for the URL.
///
/// ## Round trips
/// Reading a written predicate returns the same predicate, except for parts that the syntax cannot express:
/// - A membership becomes a chain of `or`. A membership in an empty list becomes `false`.
/// - `equalsIgnoringCase` becomes the equality of two `tolower` calls. A literal operand is already in lower case.
/// - `and` within `and`, and `or` within `or`, become one flat node. Without terms they become `true` and `false`. With
///   one term they become the term itself, or `term and true` or `term or false` if null would make a difference to the
///   operand of a comparison.
/// - JSON, and bytes as base64, become string literals. They regain their type if they are compared with a column that
///   `schema` defines.
///
/// ## Types of literals
/// If a comparison has a column that `schema` defines on one side and a string literal on the other, the literal takes
/// the column's type, in reading and in writing: an instant for a timestamp column, bytes from base64 for a bytes
/// column, JSON for a JSON column. A literal that does not have the format of this type is an error. Nothing else is
/// converted: stores compare ints with doubles directly.
///
/// Filters may be nested up to 1,000 levels deep. The number of terms of an `and` or `or` is not limited.
package enum OData {
    /// The maximum nesting depth of a filter. Stores and other servers process the tree recursively, on a limited
    /// stack.
    static let maximumDepth = 1_000

    /// The version of OData in which a filter is written.
    package enum Syntax: Sendable, Hashable {
        /// The early version: `datetimeoffset'2026-11-21T09:12:49.403Z'`, `substringof('b',name)`.
        case early
        /// Version 4: `cast(2026-11-21T09:12:49.403Z,Edm.DateTimeOffset)`, `contains(name,'b')`.
        case version4
    }

    static func tooDeep(at offset: Int? = nil) -> WireError {
        WireError(.invalidFilter, "the filter is nested more than \(maximumDepth) levels deep", offset: offset)
    }

    /// Returns the text of a predicate for `$filter`.
    ///
    /// - Parameter schema: The table's definition, or `nil`. Columns that are not in it are written, too, because the
    ///   server's table may have more columns.
    /// - Parameter edmTypes: The types of the server's columns that are compared with literals of their own, by name.
    /// - Throws: ``WireError/Code/invalidFilter``, with the name of the column, for a name that is not an identifier, a
    ///   literal that does not fit its column, NaN or an infinity, a function with the wrong number of operands, or
    ///   more than 1,000 levels.
    package static func filter(
        _ predicate: RowPredicate, schema: TableSchema?, syntax: Syntax = .early, edmTypes: [String: EdmType] = [:]
    ) throws(WireError) -> String {
        var writer = FilterWriter(types: LiteralTypes(schema), syntax: syntax, edmTypes: edmTypes)
        return try writer.write(predicate)
    }

    /// Returns the text of a `$filter` that every server evaluates to true for the rows for which the
    /// ``TidelineStore/Evaluator`` evaluates the predicate to true.
    ///
    /// In SQL, a comparison with a null is neither true nor false, and neither is its opposite. The text includes the
    /// rows that a server over SQL would omit for this reason: `priority != 3` is `priority ne 3 or priority eq null`.
    /// Columns that `schema` declares as not optional have no nulls.
    /// - Throws: The errors of ``filter(_:schema:syntax:edmTypes:)``.
    package static func portableFilter(
        _ predicate: RowPredicate, schema: TableSchema?, syntax: Syntax = .early, edmTypes: [String: EdmType] = [:]
    ) throws(WireError) -> String {
        try filter(NullLogic(schema).rewritten(predicate), schema: schema, syntax: syntax, edmTypes: edmTypes)
    }

    /// Returns the predicate for the text of a `$filter`.
    ///
    /// In addition to the output of ``filter(_:schema:syntax:edmTypes:)``, accepts `datetime'…'`, `guid'…'` (a string),
    /// `binary'…'` and `X'…'` (bytes in hexadecimal), the suffixes `d`, `f` and `m` of doubles, `contains(text,part)`,
    /// and a minus before any operand. A whole number without a suffix that does not fit 64 bits is a double.
    /// - Parameter schema: The table's definition, or `nil`. If it is not `nil`, a column that it does not define is an
    ///   error.
    /// - Throws: ``WireError/Code/invalidFilter``, with the offset in UTF-8 bytes and the expected syntax.
    package static func parseFilter(_ text: String, schema: TableSchema?) throws(WireError) -> RowPredicate {
        var parser = FilterParser(text, types: LiteralTypes(schema))
        return try parser.parse()
    }

    /// Returns the text of an order for `$orderby`, such as `due desc,text`.
    ///
    /// Names are not checked; use ``requireIdentifier(_:)`` to detect names that cannot be read back.
    package static func orderBy(_ terms: [OrderTerm]) -> String {
        terms.map { $0.isDescending ? "\($0.column) desc" : $0.column }.joined(separator: ",")
    }

    /// Returns the order for the text of a `$orderby`. Empty for an empty text.
    ///
    /// - Throws: ``WireError/Code/invalidFilter``, with the offset in UTF-8 bytes.
    package static func parseOrderBy(_ text: String) throws(WireError) -> [OrderTerm] {
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

    /// Checks that a column's name can be used in filters, orders and selections. It must consist of letters, digits,
    /// `_` and `.`, must not begin with a digit or dot, and must not be `not`, `null`, `true` or `false`.
    ///
    /// - Throws: ``WireError/Code/invalidFilter``, with the name of the column.
    package static func requireIdentifier(_ name: String) throws(WireError) {
        let scalars = name.unicodeScalars
        guard let first = scalars.first, first.startsIdentifier, scalars.allSatisfy(\.continuesIdentifier),
            FilterKeyword(rawValue: name) == nil
        else {
            throw WireError(
                .invalidFilter, "the name of this column cannot be used in a query to the server", column: name)
        }
    }
}
