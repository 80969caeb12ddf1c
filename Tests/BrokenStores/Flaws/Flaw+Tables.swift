internal import TidelineStore

extension Flaw {
    /// Returns the definitions as they are listed.
    func listed(_ schemas: [TableSchema]) -> [TableSchema] {
        switch self {
        case .tablesSortedInUTF16: schemas.sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
        case .tablesUnsorted: schemas.sorted { $0.name.count > $1.name.count }
        case .indexesNotListed:
            schemas.map { schema in
                var schema = schema
                schema.indexes = []
                return schema
            }
        case .systemTablesNotListed: schemas.filter { !$0.isSystem }
        default: schemas
        }
    }

    /// Returns the definitions of one call if the flaw accepts them without validation.
    func unchecked(_ schemas: [TableSchema]) -> [TableSchema]? {
        switch self {
        case .namesNotChecked: schemas
        case .nameFormsNotChecked where schemas.contains(where: { $0.name.differingFormC != nil }): schemas
        default: nil
        }
    }

    /// Whether a definition is considered equal to the existing one.
    func isSame(_ a: TableSchema, _ b: TableSchema) -> Bool {
        self == .optionalChangeIgnored && a.indexes == b.indexes && a.idType == b.idType
            && a.allColumns.map(\.name) == b.allColumns.map(\.name)
            && a.allColumns.map(\.type) == b.allColumns.map(\.type)
    }

    /// Returns the columns stored under a new definition if the flaw breaks the rules of evolution.
    func storedColumns(_ layout: TableLayout, _ schema: TableSchema) -> [ColumnSchema]? {
        switch self {
        case .changedTypeAccepted:
            let names = Set(layout.stored.map(\.name))
            let known = layout.stored.map { schema.column($0.name) ?? $0 }
            return known + schema.allColumns.filter { !names.contains($0.name) }
        case .idTypeChangeAccepted:
            guard layout.schema.idMatching != schema.idMatching else { return nil }
            return layout.stored
        case .retiredTypeForgotten:
            let retired = layout.stored.filter { layout.schema.column($0.name) == nil }
            guard retired.contains(where: { old in schema.column(old.name).map { $0.type != old.type } ?? false })
            else {
                return nil
            }
            return layout.stored.map { schema.column($0.name) ?? $0 }
        case .columnCaseChangeAccepted:
            let names = layout.stored.map(\.name)
            return layout.stored + schema.allColumns.filter { !names.contains($0.name) }
        case .columnsMoveWithDefinition: return schema.allColumns
        default: return nil
        }
    }

    /// Empties the indexes that a redefinition has added.
    func redefined(_ session: PlainSession) {
        guard self == .redefinitionFillsNoIndex else { return }
        for (name, table) in session.state.tables {
            let known = session.start.tables[name]?.indexes.map(\.columns) ?? []
            for (position, index) in table.indexes.enumerated() where !known.contains(index.columns) {
                session.state.tables[name]?.indexes[position].removeAll()
            }
        }
    }

    /// Changes the existing rows for a new definition.
    func evolve(_ rows: inout SortedMap<PlainRow>, from old: TableLayout, to new: TableLayout) {
        for (key, row) in rows.entries {
            switch self {
            case .newColumnIsZero:
                let added = new.stored.dropFirst(row.values.count)
                rows[key]?.values += added.map { $0.type == .int ? .int(0) : .null }
            case .droppedColumnErased:
                for (position, column) in new.stored.enumerated()
                where new.schema.column(column.name) == nil && position < row.values.count {
                    rows[key]?.values[position] = .null
                }
            case .changedTypeAccepted:
                for (position, column) in new.stored.enumerated() where position < row.values.count {
                    if row.values[position].type != column.type { rows[key]?.values[position] = .null }
                }
            default: return
            }
        }
    }
}
