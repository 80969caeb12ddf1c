internal import TidelineStore

extension QueryPlanner {
    /// In which direction keys of these columns, and then of the id, come in the query's order.
    ///
    /// - Parameter fixed: The columns of which there is a single value.
    func direction(along columns: [ColumnReference], fixed: [ColumnReference]) -> AccessPath.Direction {
        let id = ColumnReference(idOf: table)
        if fixed.contains(id) { return .ascending }
        var terms = decidingTerms(fixed: fixed, id: id)
        // Ties come by ascending id without its being asked for.
        if let last = terms.last, last.column == id, !last.isDescending { terms.removeLast() }
        let order = columns.filter { !fixed.contains($0) } + [id]
        let isDescending = terms.first?.isDescending ?? false
        guard terms.count <= order.count, terms.allSatisfy({ $0.isDescending == isDescending }),
            zip(terms, order).allSatisfy({ $0.column == $1 })
        else { return .unordered }
        if terms.last?.column == id { return .descending }
        // What follows the terms must be the id.
        guard order[terms.count] == id else { return .unordered }
        guard isDescending else { return .ascending }
        return order.count == terms.count + 1 && !columns.contains(id) ? .descendingTiesAscending : .unordered
    }

    /// The terms that decide something: none of a column with a single value, no column twice, none after the id.
    private func decidingTerms(
        fixed: [ColumnReference], id: ColumnReference
    ) -> [(column: ColumnReference, isDescending: Bool)] {
        if query.order.isEmpty { return [] }
        var terms: [(column: ColumnReference, isDescending: Bool)] = []
        // Few terms, so that to look through them takes less than a set.
        for term in query.order {
            guard let column = ColumnReference(term.column, in: table), !fixed.contains(column),
                !terms.contains(where: { $0.column == column })
            else { continue }
            terms.append((column, term.isDescending))
            if column == id { break }
        }
        return terms
    }
}
