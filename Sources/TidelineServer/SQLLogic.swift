internal import TidelineStore

extension RowPredicate {
    /// A condition that holds exactly where this one is true in SQL's three-valued logic: a comparison, membership test
    /// or function with a null operand is neither true nor false, even under `not`.
    var withSQLNulls: RowPredicate { holds(true) }

    /// Returns a condition that this one is true, or that it is false, and in either case not null.
    private func holds(_ wanted: Bool) -> RowPredicate {
        switch self {
        case .and(let terms):
            let terms = terms.map { $0.holds(wanted) }
            return wanted ? .and(terms) : .or(terms)
        case .or(let terms):
            let terms = terms.map { $0.holds(wanted) }
            return wanted ? .or(terms) : .and(terms)
        case .not(let term):
            return term.holds(!wanted)
        case .comparison(_, .literal(.null), _), .comparison(_, _, .literal(.null)):
            // `eq null` and `ne null` become IS NULL and IS NOT NULL.
            return wanted ? self : .not(self)
        default:
            return .and([wanted ? self : .not(self)] + columnNames.map { .column($0).isNotNull })
        }
    }

    /// The columns that the condition names, except `id`, which is never null.
    private var columnNames: [String] {
        if case .column(let name) = self { return name == "id" ? [] : [name] }
        return children.flatMap(\.columnNames)
    }
}
