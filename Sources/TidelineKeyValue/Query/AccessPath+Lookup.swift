internal import TidelineStore

extension AccessPath {
    /// Creates the path of a query for the rows with given values in all columns of an index, or returns `nil` for any
    /// other query.
    ///
    /// The sync core looks up the pending operations of a row this way at each local change. Such a query is valid, and
    /// its path is evident, so that it is neither validated nor planned.
    init?(lookingUp query: TableQuery, in table: StoredTable) {
        guard case .and(let terms)? = query.predicate, query.limit == nil, query.skip == 0, query.order.isEmpty,
            query.selection == nil, !query.includesTotalCount
        else { return nil }
        for (number, index) in table.indexes.enumerated() where index.columns.count == terms.count {
            guard let prefix = index.prefix(of: terms) else { continue }
            self.init(
                source: .index(number), keyRanges: .ranges([KeyRange(prefix: prefix)]), direction: .ascending,
                bounds: terms, filter: nil)
            return
        }
        return nil
    }

    /// Whether the path's only range contains no key.
    func isEmpty(in keys: any KeySource) throws -> Bool {
        guard case .ranges(let ranges) = keyRanges, ranges.count == 1 else { return false }
        return try keys.isEmpty(ranges[0])
    }
}

extension StoredIndex {
    /// Returns the common prefix of the entries for the values of the terms, or `nil` if the terms are not an equality
    /// for each column, in the order of the index.
    fileprivate func prefix(of terms: [RowPredicate]) -> [UInt8]? {
        var key = KeyBuilder(space)
        for position in terms.indices {
            guard case .comparison(.equal, .column(let name), .literal(let value)) = terms[position],
                positions[position] != nil, name == columns[position], value.type == types[position],
                types[position] != .double
            else { return nil }
            key.append(value)
        }
        return key.bytes
    }
}
