internal import TidelineStore

extension QueryPlanner {
    /// Returns the direction in which keys of these columns followed by the identifier yield the query's order.
    ///
    /// - Parameter fixed: The columns that are restricted to a single value.
    func direction(along columns: [ColumnReference], fixed: [ColumnReference]) -> AccessPath.Direction {
        let id = table.evaluator.id
        if fixed.contains(id) { return .ascending }
        var terms = decidingTerms(fixed: fixed, id: id)
        // Ties are ordered by ascending identifier implicitly.
        if let last = terms.last, last.column == id, !last.isDescending { terms.removeLast() }
        let order = columns.filter { !fixed.contains($0) } + [id]
        let isDescending = terms.first?.isDescending ?? false
        guard terms.count <= order.count, terms.allSatisfy({ $0.isDescending == isDescending }),
            zip(terms, order).allSatisfy({ $0.column == $1 })
        else { return .unordered }
        if terms.last?.column == id { return .descending }
        // The key part after the terms must be the identifier.
        guard order[terms.count] == id else { return .unordered }
        guard isDescending else { return .ascending }
        return order.count == terms.count + 1 && !columns.contains(id) ? .descendingTiesAscending : .unordered
    }

    /// Returns the terms that affect the order: without fixed columns, repeated columns, and terms after the
    /// identifier.
    private func decidingTerms(
        fixed: [ColumnReference], id: ColumnReference
    ) -> [(column: ColumnReference, isDescending: Bool)] {
        if query.order.isEmpty { return [] }
        var terms: [(column: ColumnReference, isDescending: Bool)] = []
        // There are few terms, so a linear search is faster than a set.
        for term in query.order {
            guard let column = ColumnReference(term.column, in: table.evaluator), !fixed.contains(column),
                !terms.contains(where: { $0.column == column })
            else { continue }
            terms.append((column, term.isDescending))
            if column == id { break }
        }
        return terms
    }
}
