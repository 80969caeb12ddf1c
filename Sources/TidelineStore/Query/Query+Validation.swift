extension Query {
    /// Checks the query against the definition of its table, as every store does before it answers.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/unsupportedQuery`` for a negative skip or limit, a predicate that
    ///   is not a condition, and operands that a node of it does not take; ``StoreError/Code/invalidValue``, naming
    ///   the column, for a column that the table does not define.
    public func validate(against schema: TableSchema) throws(StoreError) {
        try Evaluator(schema: schema).validate(self)
    }

    /// The names of the columns in the result beside `id`, each once: all, or the selection and `version`.
    public func resultColumns(of schema: TableSchema) -> [ColumnSchema] {
        guard let selection else { return schema.allColumns }
        let wanted = Set(selection.map { Array($0.utf8) })
        return schema.allColumns.filter {
            wanted.contains(Array($0.name.utf8)) || ($0.name == "version" && schema.systemColumns.contains(.version))
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
