internal import TidelineStore

extension Flaw {
    /// Returns a query as the flawed store interprets it.
    func misunderstood(_ asked: TableQuery, _ schema: TableSchema) -> TableQuery {
        var query = asked
        switch self {
        case .secondTermIgnored: query.order = Array(query.order.prefix(1))
        case .orderTermsCutAtEight: query.order = Array(query.order.prefix(8))
        case .unselectedOrderIgnored:
            if let selection = query.selection { query.order.removeAll { !selection.contains($0.column) } }
        case .limitZeroIsNone where query.limit == 0: query.limit = nil
        case .skipOffByOne where query.skip > 0: query.skip -= 1
        case .limitOffByOne: query.limit = query.limit.map { $0 > 0 && $0 < .max ? $0 + 1 : $0 }
        case .negativeLimitAccepted where query.limit ?? 0 < 0: query.limit = nil
        case .unknownSelectionIgnored: query.selection = query.selection?.filter { schema.column($0) != nil }
        case .selectionIgnored: query.selection = nil
        case .boolColumnIsNoCondition:
            if case .column = query.predicate { query.predicate = false }
        case .columnNamesIgnoreCase: query.renameColumns { Self.column($0, schema) }
        case .termsCutAtHundred: query.predicate = query.predicate.map(Self.cut)
        case .otherTypesFindNothing where Self.comparesOtherType(query.predicate, schema): query.predicate = false
        default: break
        }
        return query
    }

    /// Whether a predicate compares a column with a literal of another type.
    private static func comparesOtherType(_ predicate: RowPredicate?, _ schema: TableSchema) -> Bool {
        guard case .comparison(_, .column(let name), .literal(let value)) = predicate,
            let type = schema.column(name)?.type, let other = value.type
        else { return false }
        return !OperandType.value(type).isComparable(with: .value(other))
    }

    /// Returns the name of a column, found without regard to case.
    private static func column(_ name: String, _ schema: TableSchema) -> String {
        schema.allColumns.first { $0.name.isSameFolded(as: name) }?.name ?? name
    }

    /// Returns the query of a deletion as the flawed store interprets it.
    func deletion(_ asked: TableQuery) -> TableQuery {
        var query = asked
        switch self {
        case .deleteIgnoresSkip: query.skip = 0
        case .deleteIgnoresLimit: query.limit = nil
        case .deleteIgnoresOrder: query.order = []
        case .deleteIgnoresCondition where query.limit != nil: query.predicate = nil
        default: break
        }
        return query
    }

    /// Returns the number of rows after which a deletion by query ends.
    func maximumDeletion(_ query: TableQuery) -> Int {
        switch self {
        case .deletionCutAtThousand: 1_000
        case .orderedDeletionCut where !query.order.isEmpty: 6_000
        default: .max
        }
    }

    private static func cut(_ predicate: RowPredicate) -> RowPredicate {
        switch predicate {
        case .and(let terms): .and(Array(terms.prefix(100)))
        case .or(let terms): .or(Array(terms.prefix(100)))
        case .membership(let operand, let values): .membership(operand, Array(values.prefix(100)))
        default: predicate
        }
    }

    /// Returns the columns of a result.
    func resultColumns(_ query: TableQuery, _ layout: TableLayout) -> [ColumnSchema]? {
        if self == .scannedColumnsAsStored {
            return query.resultColumns(of: layout.schema).sorted { first, second in
                (layout.position(of: first.name) ?? 0) < (layout.position(of: second.name) ?? 0)
            }
        }
        guard self == .versionNotSelected, let selection = query.selection else { return nil }
        return layout.schema.allColumns.filter { selection.contains($0.name) }
    }

    /// Returns the rows that remain after skip and limit.
    func window(of found: [PlainSession.Match], _ query: TableQuery) -> ArraySlice<PlainSession.Match>? {
        guard self == .skipPastEndWraps, query.skip > found.count else { return nil }
        return found.prefix(query.limit ?? .max)
    }

    /// Returns the matching rows, in a wrong order or with rows missing.
    func ordered(
        _ found: [PlainSession.Match], _ query: TableQuery, _ order: RowOrder, _ layout: TableLayout
    ) -> [PlainSession.Match]? {
        switch self {
        case .skipBeforeOrder:
            return found.prefix(query.skip) + found.dropFirst(query.skip).sorted { order.precedes($0.key, $1.key) }
        case .limitBeforeOrder:
            let end =
                query.limit.map { query.skip.addingReportingOverflow($0) }.map { $0.overflow ? .max : $0.partialValue }
                ?? .max
            let sorted = found.prefix(end).sorted { order.precedes($0.key, $1.key) }
            return sorted + found.dropFirst(sorted.count)
        case .longOrdersForgotten where found.count > 10_000: return found
        case .longOrdersUnstable where found.count > 4_096: return merged(found, query, order, layout)
        default:
            guard let comparison = FlawedOrder(self, query, layout) else { return nil }
            return found.sorted { comparison.precedes($0.row, $1.row) }
        }
    }
}

extension Flaw {
    /// Returns the rows in an order merged from two parts; for equal terms, the second part comes first.
    private func merged(
        _ found: [PlainSession.Match], _ query: TableQuery, _ order: RowOrder, _ layout: TableLayout
    ) -> [PlainSession.Match] {
        let sort = { (part: ArraySlice<PlainSession.Match>) in part.sorted { order.precedes($0.key, $1.key) } }
        let positions = query.order.map { layout.position(of: $0.column) }
        let terms = { (match: PlainSession.Match) in positions.map { $0.map { match.row.value(at: $0) } ?? .null } }
        var first = sort(found.prefix(4_096))[...]
        var result: [PlainSession.Match] = []
        for match in sort(found.dropFirst(4_096)) {
            while let other = first.first, order.precedes(other.key, match.key), terms(other) != terms(match) {
                result.append(first.removeFirst())
            }
            result.append(match)
        }
        return result + first
    }
}

/// An order of rows with one flaw.
private struct FlawedOrder {
    let flaw: Flaw
    let terms: [OrderTerm]
    let layout: TableLayout

    private static let flaws = Set(BrokenStore.order.map(\.flaw)).subtracting([.secondTermIgnored])

    init?(_ flaw: Flaw, _ query: TableQuery, _ layout: TableLayout) {
        guard Self.flaws.contains(flaw) else { return nil }
        self.flaw = flaw
        self.layout = layout
        terms = query.order
    }

    func precedes(_ a: PlainRow, _ b: PlainRow) -> Bool {
        for term in terms {
            let (x, y) = (value(term.column, a), value(term.column, b))
            if x.isNull != y.isNull {
                switch flaw {
                case .nullsLast: return x.isNull == term.isDescending
                case .nullsFirstInBothOrders: return x.isNull
                default: break
                }
            }
            let (left, right) = (bytes(x), bytes(y))
            let isDescending = term.isDescending && !(flaw == .descendingIDIgnored && term.column == "id")
            if left != right { return comesFirst(left, right) != isDescending }
        }
        return tie(a, b)
    }

    private func tie(_ a: PlainRow, _ b: PlainRow) -> Bool {
        let (left, right) = (bytes(value("id", a)), bytes(value("id", b)))
        switch flaw {
        case .tiesUnordered where !terms.isEmpty: return comesFirst(Array(left.reversed()), Array(right.reversed()))
        case .tiesFollowDescending where terms.last?.isDescending == true: return comesFirst(right, left)
        default: return comesFirst(left, right)
        }
    }

    private func value(_ column: String, _ row: PlainRow) -> Value {
        if let position = layout.position(of: column) { return row.value(at: position) }
        switch (flaw, row.id) {
        case (.intIDsOrderedAsText, .int(let number)): return .string(String(number))
        case (.idsOrderedByLength, .string(let text)):
            return .string("\(String(repeating: "a", count: text.count)) \(text)")
        case (.idOrderHeedsCase, _): return row.id.value
        default: return layout.comparable(row.id, flaw: nil)
        }
    }

    private func bytes(_ value: Value) -> [UInt8] {
        var key = KeyBytes()
        switch (flaw, value) {
        case (.textOrderIgnoresCase, .string(let text)): key.append(.string(text.lowercased()))
        case (.textOrderByNumber, .string(let text)):
            key.append(.int(Int64(text) ?? .max))
            key.append(value)
        case (.textOrderInUTF16, .string(let text)):
            key.bytes = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        case (.integersOrderedAsDoubles, .int(let number)): key.append(.double(Double(number)))
        case (.instantsOrderedByMillisecond, .timestamp(let instant)):
            key.append(.timestamp(instant.flooredToMillisecond))
        case (.falseAfterTrue, .bool(let bool)): key.append(.bool(!bool))
        case (.doublesOrderedByBits, .double(let double)) where !double.isNaN:
            key.append(.int(Int64(bitPattern: double.bitPattern)))
        case (.nanLast, .double(let double)) where double.isNaN: key.bytes = [0xFF]
        default: key.append(value)
        }
        return key.bytes
    }
}

extension TableQuery {
    fileprivate mutating func renameColumns(_ rename: (String) -> String) {
        order = order.map { OrderTerm(rename($0.column), descending: $0.isDescending) }
        selection = selection?.map(rename)
        predicate = predicate?.renamingColumns(rename)
    }
}

extension RowPredicate {
    fileprivate func renamingColumns(_ rename: (String) -> String) -> RowPredicate {
        if case .column(let name) = self { return .column(rename(name)) }
        return replacingChildren(with: children.map { $0.renamingColumns(rename) })
    }
}
