internal import TidelineStore

extension PlainSession {
    func upsert(_ rows: borrowing PackedRows, into name: String) throws {
        try changing {
            let layout = try writable(name).layout
            let map = BatchMap(rows.shape, layout, flaw: flaw)
            let count = flaw?.rowsTaken(of: rows.count) ?? rows.count
            if flaw == .emptyBatchFails, count == 0 { throw StoreError(.invalidValue, "no rows", table: name) }
            var seen: Set<RowID> = []
            for position in 0..<count {
                try rows.withRow(at: position) { view in
                    let keepsFirst =
                        flaw == .firstOfTwoCounts || flaw == .duplicatesInLongBatchKeepFirst && count > 16
                    if keepsFirst, !seen.insert(view.id).inserted { return }
                    let first = rows.withRow(at: 0) { map.named($0) }
                    try put(
                        try map.row(view, over: old(view, in: name), first: first, known: known(view, in: name)),
                        into: name)
                }
            }
        }
    }

    private func old(_ view: borrowing RowView, in name: String) throws -> PlainRow? {
        guard view.shape.idType == (try table(name).layout.schema.idType) else { return nil }
        let table = try writable(name)
        let key = table.key(of: view.id)
        return table.rows[key] ?? (flaw == .deletedRowComesBack ? table.buried[key] : nil)
    }

    /// Returns the original id of a deleted row, if the flawed store keeps it.
    private func known(_ view: borrowing RowView, in name: String) -> RowID? {
        guard flaw == .deletedSpellingKept, let table = state.tables[name] else { return nil }
        return table.buried[table.key(of: view.id)]?.id
    }

    private func put(_ row: PlainRow, into name: String) throws {
        if flaw == .rowWithoutColumnsNotStored, row.values.allSatisfy(\.isNull) { return }
        state.tables[name]?.put(row)
        changes.append(.put(table: name, row))
    }

    func delete(ids: [RowID], from name: String) throws -> Int {
        try changing {
            let table = try writable(name)
            var deleted = 0
            for id in flaw?.idsTaken(of: ids) ?? ids
            where id.type == table.layout.schema.idType || flaw == .idTypeNotChecked {
                let id = flaw == .idTypeNotChecked ? .string(id.text) : id
                let heedsCase = flaw == .deleteHeedsCase || flaw == .manyIDsHeedCase && ids.count > 16
                if heedsCase, table.rows[table.key(of: id)]?.id != id { continue }
                if remove(table.key(of: id), from: name) { deleted += 1 }
            }
            return flaw == .deleteCountsIDs ? ids.count : deleted
        }
    }

    func delete(matching query: TableQuery) throws -> Int {
        // A refused query has changed nothing, and the transaction may continue.
        guard isOpen || flaw == .handleOutlivesBody else { throw PlainGate.closed }
        if flaw == .undefinedTableInDeleteIgnored, (try? writable(query.table)) == nil { return 0 }
        let table = try writable(query.table)
        let asked = flaw?.deletion(query) ?? query
        try table.layout.evaluator.validate(asked)
        let found = try ordered(asked, table).dropFirst(asked.skip).prefix(asked.limit ?? .max)
        return try changing {
            let found = found.prefix(flaw?.maximumDeletion(asked) ?? .max)
            for match in found { _ = remove(table.key(of: match.row.id), from: query.table) }
            return flaw == .deletingAllCountsNone && query.predicate == nil ? 0 : found.count
        }
    }

    private func remove(_ key: [UInt8], from name: String) -> Bool {
        guard state.tables[name]?.remove(key) != nil else { return false }
        changes.append(.remove(table: name, key: key))
        return true
    }

    /// Returns the table as this transaction sees it.
    private func writable(_ name: String) throws -> PlainTable { try state.table(name) }
}

/// Maps the columns of a batch to those of a table, whose definition the batch need not have.
private struct BatchMap {
    let layout: TableLayout
    let positions: [Int?]
    let shape: RowShape
    let flaw: Flaw?

    init(_ shape: RowShape, _ layout: TableLayout, flaw: Flaw?) {
        self.shape = shape
        self.layout = layout
        self.flaw = flaw
        positions = shape.columns.enumerated().map { index, column in
            flaw == .batchColumnsByPosition && index < layout.positions.count
                ? layout.positions[index] : layout.position(of: column.name)
        }
    }

    /// Returns the columns that a row names.
    func named(_ view: borrowing RowView) -> Set<Int> {
        var named: Set<Int> = []
        for index in 0..<shape.count where view.tag(at: index) != .absent { named.insert(index) }
        return named
    }

    /// Returns the row that is stored when `view` is merged into the existing row.
    func row(_ view: borrowing RowView, over old: PlainRow?, first: Set<Int>, known: RowID?) throws -> PlainRow {
        let id = try checkedID(view)
        var row = old ?? PlainRow(id: known ?? id, values: [])
        if flaw == .mergeReplaces { row.values = [] }
        if flaw == .spellingReplaced { row.id = id }
        row.values += Array(repeating: .null, count: max(layout.stored.count - row.values.count, 0))
        var named: Set<Int> = []
        for index in 0..<shape.count {
            if flaw == .columnsOfFirstRow, !first.contains(index) { continue }
            guard let value = view.value(at: index) else { continue }
            guard let position = try position(of: index, value, id) else { continue }
            named.insert(position)
            if flaw == .columnsBeyondSixtyFourNotMerged, old != nil, position >= 64 { continue }
            if flaw == .explicitNullIgnored, value.isNull, old != nil { continue }
            row.values[position] = flaw?.stored(value, layout.stored[position]) ?? value
        }
        try requireColumns(row, named, isNew: old == nil)
        if let flaw { flaw.stamp(&row, layout) }
        return row
    }

    /// Returns the position of a value in the table.
    private func position(of index: Int, _ value: Value, _ id: RowID) throws -> Int? {
        let name = shape.columns[index].name
        guard let position = positions[index] else {
            if flaw == .unknownColumnDropped { return nil }
            throw failure("the table does not define this column", name, id)
        }
        let type = layout.stored[position].type
        guard value.isNull || value.type == type || flaw == .typeNotChecked else {
            throw failure("the value \(value) does not fit a column of type \(type.rawValue)", name, id)
        }
        return position
    }

    private func requireColumns(_ row: PlainRow, _ named: Set<Int>, isNew: Bool) throws {
        if flaw == .requiredColumnNotChecked { return }
        for (column, position) in zip(layout.schema.allColumns, layout.positions) where !column.isOptional {
            if flaw == .requiredNullInMergeAccepted, !isNew { continue }
            guard isNew || named.contains(position) || flaw == .requiredColumnAskedOfMerges else { continue }
            guard named.contains(position), !row.values[position].isNull else {
                throw failure("the column may not be null", column.name, row.id)
            }
        }
    }

    private func checkedID(_ view: borrowing RowView) throws -> RowID {
        guard view.shape.idType == layout.schema.idType else {
            throw failure("the id must be of type \(layout.schema.idType.rawValue)", "id", view.id)
        }
        let id = view.id
        if flaw == .negativeIDsRefused, case .int(..<0) = id { throw failure("an id is positive", "id", id) }
        guard case .string(let text) = id else { return id }
        let isEmptyAllowed = flaw == .emptyIDAccepted
        let isLongAllowed = flaw == .tooLongIDAccepted
        guard isEmptyAllowed || !text.isEmpty, isLongAllowed || text.unicodeScalars.count <= 255 else {
            throw failure("an id has 1 to 255 characters", "id", id)
        }
        return id
    }

    private func failure(_ message: String, _ column: String, _ id: RowID) -> StoreError {
        StoreError(.invalidValue, message, table: layout.schema.name, column: column, id: id.text)
    }
}
