extension TableQuery {
    /// Checks the query against the definition of its table. Every store does this before it answers a query.
    ///
    /// - Throws: ``StoreError/Code/unsupportedQuery`` if skip or limit is negative, the predicate is not a condition,
    ///   or a node of it does not accept its operands; ``StoreError/Code/invalidValue``, naming the column, if the
    ///   table does not define a column, or the predicate compares a column with a value of another type.
    public func validate(against schema: TableSchema) throws(StoreError) {
        try Evaluator(schema: schema).validate(self)
    }

    /// Whether the query asks for only part of the matching rows.
    @inlinable
    package var isWindow: Bool { limit != nil || skip > 0 }

    /// Returns the columns of the result except `id`, without duplicates: all columns, or the selection and `version`.
    public func resultColumns(of schema: TableSchema) -> [ColumnSchema] {
        guard let selection else { return schema.allColumns }
        let wanted = Set(selection)
        return schema.allColumns.filter {
            wanted.contains($0.name) || ($0.name == "version" && schema.systemColumns.contains(.version))
        }
    }
}

extension RowPredicate {
    /// The direct operands of this node.
    package var children: [RowPredicate] {
        switch self {
        case .column, .literal: []
        case .comparison(_, let a, let b), .arithmetic(_, let a, let b): [a, b]
        case .and(let terms), .or(let terms), .function(_, let terms): terms
        case .not(let term), .membership(let term, _): [term]
        }
    }

    /// All nodes of this tree, each before its operands.
    package var nodes: PredicateNodes { PredicateNodes(pending: [(self, 1)]) }

    /// The names of the columns in this tree, in their order, each as often as it occurs.
    package var columnNames: [String] {
        nodes.compactMap { if case .column(let name) = $0.node { name } else { nil } }
    }

    /// Returns whether another predicate is the same tree. The operator `==` builds a predicate instead.
    package func isIdentical(to other: RowPredicate) -> Bool {
        let isSameNode =
            switch (self, other) {
            case (.column(let a), .column(let b)): a == b
            case (.literal(let a), .literal(let b)): a == b
            case (.comparison(let a, _, _), .comparison(let b, _, _)): a == b
            case (.arithmetic(let a, _, _), .arithmetic(let b, _, _)): a == b
            case (.function(let a, _), .function(let b, _)): a == b
            case (.membership(_, let a), .membership(_, let b)): a == b
            case (.and, .and), (.or, .or), (.not, .not): true
            default: false
            }
        return isSameNode && children.elementsEqual(other.children) { $0.isIdentical(to: $1) }
    }
}

/// The nodes of a predicate with their depth, which is 1 for the predicate itself. The walk does not recurse, so that
/// no tree is too deep for it.
package struct PredicateNodes: Sequence, IteratorProtocol {
    fileprivate var pending: [(node: RowPredicate, depth: Int)]

    package mutating func next() -> (node: RowPredicate, depth: Int)? {
        guard let (node, depth) = pending.popLast() else { return nil }
        pending += node.children.reversed().map { ($0, depth + 1) }
        return (node, depth)
    }
}
