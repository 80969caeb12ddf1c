internal import TidelineStore

extension KeyStore {
    /// Carries a plan out, within the transaction that is open.
    ///
    /// - Returns: The definitions as they are then.
    func apply(_ plan: SchemaPlan, to catalog: Catalog) throws -> Catalog {
        for change in plan.changes {
            for space in change.removed { try removeAll(in: space) }
            try fill(change.filled, of: change.table)
            try writeDefinition(change.table.definition)
        }
        let changed = plan.catalog(after: catalog)
        try writeGeneration(of: changed)
        return changed
    }

    /// Makes the entries of a table's indexes and its row count anew from its rows.
    func rebuildIndexes(of table: StoredTable) throws {
        for index in table.indexes { try removeAll(in: index.space) }
        try fill(table.indexes, of: table)
        var count = 0
        try scan(table.rows.range, descending: false) { _, _ in
            count += 1
            return .next
        }
        try writeRowCount(count, of: table.rows)
    }

    /// How many entries are looked at before others are written: an engine does not write while it scans.
    private var chunkSize: Int { 1_000 }

    private func removeAll(in space: KeySpace) throws {
        var range = space.range
        var keys: [[UInt8]]
        repeat {
            keys = []
            try scan(range, descending: false) { key, _ in
                keys.append(Array(key))
                return keys.count < chunkSize ? .next : .stop
            }
            for key in keys { _ = try key.withUnsafeBytes { try delete($0) } }
            // The next chunk does not pass over what was removed: in some engines that takes time.
            range.lower = keys.last ?? range.upper
        } while keys.count == chunkSize
    }

    /// Makes the entries of all rows in indexes that are new.
    private func fill(_ indexes: [StoredIndex], of table: StoredTable) throws {
        guard !indexes.isEmpty else { return }
        var cursor = RowCursor(table)
        var range = table.rows.range
        var entries: [KeyBuilder]
        repeat {
            entries = []
            try scan(range, descending: false) { key, value in
                try cursor.point(key: key, value: value)
                for index in indexes {
                    var entry = KeyBuilder(index.space)
                    entry.begin(index, of: cursor.view, ids: table.ids)
                    entries.append(entry)
                }
                // The next chunk begins behind this key.
                range.lower = Array(key) + [0]
                return entries.count < chunkSize ? .next : .stop
            }
            for entry in entries { try entry.put(into: self) }
        } while entries.count >= chunkSize
    }
}
