internal import TidelineStore

extension KeyStore {
    /// Applies a plan within the open transaction.
    ///
    /// - Returns: The resulting definitions.
    func apply(_ plan: SchemaPlan, to catalog: Catalog) throws -> Catalog {
        let used = catalog.spaces
        for change in plan.changes {
            // A space that is used again is empty, unless a repair by an earlier version restored some of its entries.
            let reused = change.table.definition.spaces.filter { $0.number < catalog.nextSpace && !used.contains($0) }
            for space in change.removed + reused { try removeAll(in: space) }
            try fill(change.filled, of: change.table)
            try writeDefinition(change.table.definition)
        }
        let changed = plan.catalog(after: catalog)
        try requireFeatures(of: changed.all)
        try writeGeneration(of: changed)
        return changed
    }

    /// Rebuilds the entries of a table's indexes and its row count from its rows.
    func rebuildIndexes(of table: StoredTable) throws {
        for index in table.indexes { try removeAll(in: index.space) }
        try fill(table.indexes, of: table)
        var count = 0
        try unsafe scan(table.rows.range, descending: false) { _, _ in
            count += 1
            return .next
        }
        try writeRowCount(count, of: table.rows)
    }

    /// The number of entries read before others are written, because an engine does not write during a scan.
    private var chunkSize: Int { 1_000 }

    private func removeAll(in space: KeySpace) throws {
        var range = space.range
        var keys: [[UInt8]]
        repeat {
            keys = []
            try unsafe scan(range, descending: false) { key, _ in
                unsafe keys.append(Array(key))
                return keys.count < chunkSize ? .next : .stop
            }
            for key in keys { _ = try unsafe key.withUnsafeBytes { try unsafe delete($0) } }
            // The next chunk begins after the removed keys, because skipping them takes time in some engines.
            range.lower = keys.last ?? range.upper
        } while keys.count == chunkSize
    }

    /// Creates the entries of all rows in new indexes.
    private func fill(_ indexes: [StoredIndex], of table: StoredTable) throws {
        guard !indexes.isEmpty else { return }
        var cursor = RowCursor(table)
        var range = table.rows.range
        var entries: [KeyBuilder]
        repeat {
            entries = []
            try unsafe scan(range, descending: false) { key, value in
                try unsafe cursor.point(key: key, value: value)
                for index in indexes {
                    var entry = KeyBuilder(index.space)
                    entry.begin(index, of: cursor.view, ids: table.ids)
                    entries.append(entry)
                }
                // The next chunk begins after this key.
                range.lower = unsafe Array(key) + [0]
                return entries.count < chunkSize ? .next : .stop
            }
            for entry in entries { try entry.put(into: self) }
        } while entries.count >= chunkSize
    }
}
