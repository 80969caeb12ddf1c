extension Query {
    /// Checks the query against the definition of its table, as every store does before it answers.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/unsupportedQuery`` for a negative skip or limit and a function with
    ///   the wrong number of operands; ``StoreError/Code/invalidValue``, naming the column, for a column that the
    ///   table does not define.
    public func validate(against schema: TableSchema) throws(StoreError) {
        guard skip >= 0, limit ?? 0 >= 0 else {
            throw StoreError(.unsupportedQuery, "skip and limit must not be negative", table: table)
        }
        var columns = Set(schema.allColumns.map(\.name))
        columns.insert("id")
        func require(_ name: String) throws(StoreError) {
            guard columns.contains(name) else {
                throw StoreError(
                    .invalidValue, "the query names a column that the table does not define", table: table,
                    column: name)
            }
        }
        for term in order { try require(term.column) }
        for name in selection ?? [] { try require(name) }
        guard let predicate else { return }
        var pending = [predicate]
        while let node = pending.popLast() {
            if case .column(let name) = node { try require(name) }
            if case .function(let function, let operands) = node, !function.arity.contains(operands.count) {
                throw StoreError(
                    .unsupportedQuery, "\(function.rawValue) takes other than \(operands.count) operands", table: table)
            }
            pending.append(contentsOf: node.children)
        }
    }

    /// The names of the columns in the result beside `id`, each once: all, or the selection and `version`.
    public func resultColumns(of schema: TableSchema) -> [ColumnSchema] {
        guard let selection else { return schema.allColumns }
        let wanted = Set(selection)
        return schema.allColumns.filter {
            wanted.contains($0.name) || ($0.name == "version" && schema.systemColumns.contains(.version))
        }
    }
}

extension Predicate {
    /// The nodes directly below this one.
    public var children: [Predicate] {
        switch self {
        case .column, .literal: []
        case .comparison(_, let a, let b), .arithmetic(_, let a, let b): [a, b]
        case .and(let terms), .or(let terms), .function(_, let terms): terms
        case .not(let term), .membership(let term, _): [term]
        }
    }
}
