internal import TidelineStore

/// The entries of a store that a repair removed, and what it found before.
package struct ContentRepair: Sendable {
    /// The number of entries that no table can read, which were removed.
    package fileprivate(set) var removedCount = 0
    /// Whether the format record or the state of the definitions was rebuilt.
    package fileprivate(set) var isRecordRebuilt = false
    /// The number of rows that each table should have, by its name.
    package fileprivate(set) var rowCounts: [String: Int] = [:]
}

extension KeyValueStore {
    /// Makes the content of an engine a store again after its files lost a part: removes entries that no table can
    /// read, and rebuilds the format record. The engine must support scans across key spaces.
    ///
    /// - Parameter keep: Receives each entry before it is removed. Entries of indexes that were removed earlier are
    ///   among them, if the files contained them again.
    /// - Throws: ``StoreError/Code/newerFormat``, ``StoreError/Code/schemaMismatch`` for a name that is not in
    ///   normalization form C, and the errors of the engine and of `keep`.
    package static func repairContent(
        of engine: Engine,
        keeping keep: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
    ) throws -> ContentRepair {
        try engine.write { transaction in
            let keys = KeyStoreMap(transaction, unsafe OverflowKey(maximum: engine.maximumKeyLength))
            return try unsafe keys.repairContent(of: engine, keeping: keep)
        }
    }
}

extension KeyStore {
    fileprivate func repairContent(
        of engine: some OrderedKeyValueEngine,
        keeping keep: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
    ) throws -> ContentRepair {
        var repair = ContentRepair()
        let tables = try readableTables()
        for table in tables {
            if let count = try? rowCount(of: table), count > 0 { repair.rowCounts[table.name] = count }
        }
        let keys = try unsafe unreadableKeys(beside: tables, keeping: keep)
        for key in keys { _ = try unsafe key.withUnsafeBytes { try unsafe delete($0) } }
        repair.removedCount = keys.count
        repair.isRecordRebuilt = try rebuildRecord(for: engine, tables)
        return repair
    }

    /// Returns the tables whose definitions are readable and do not contradict earlier ones.
    private func readableTables() throws -> [StoredTable] {
        var tables: [StoredTable] = []
        var taken: Set<KeySpace> = [.meta]
        var names: Set<String> = []
        try unsafe scan(KeyRange(prefix: StoreFormat.definitions), descending: false) { key, value in
            let table: StoredTable
            do throws(StoreError) {
                table = try unsafe self.table(key: key, definition: value)
            } catch {
                // Any other table is complete, and must not be lost.
                guard error.code == .corrupt else { throw error }
                return .next
            }
            guard taken.isDisjoint(with: table.definition.spaces), names.insert(table.name).inserted
            else { return .next }
            taken.formUnion(table.definition.spaces)
            tables.append(table)
            return .next
        }
        return tables
    }

    /// Returns the keys of damaged rows and of entries that belong to no table. Indexes are rebuilt, so theirs are not
    /// read.
    private func unreadableKeys(
        beside tables: [StoredTable],
        keeping keep: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
    ) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        func remove(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
            try unsafe keep(key, value)
            unsafe keys.append(Array(key))
        }
        let known = Self.recordKeys(of: tables)
        try unsafe scan(KeySpace.meta.range, descending: false) { key, value in
            if unsafe !known.contains(Array(key)) { try unsafe remove(key, value) }
            return .next
        }
        for table in tables {
            var cursor = RowCursor(table)
            try unsafe scan(table.allRows, descending: false) { key, value in
                do {
                    try unsafe cursor.point(key: key, value: value)
                } catch {
                    try unsafe remove(key, value)
                }
                return .next
            }
        }
        for range in Self.gaps(between: tables) {
            try unsafe scan(range, descending: false) { key, value in
                try unsafe remove(key, value)
                return .next
            }
        }
        return keys
    }

    /// Returns the keys of the catalog of these tables.
    private static func recordKeys(of tables: [StoredTable]) -> Set<[UInt8]> {
        let rows = tables.map(\.rows)
        return Set(
            [StoreFormat.formatKey, StoreFormat.generationKey] + rows.map(StoreFormat.definitionKey)
                + rows.map(StoreFormat.countKey))
    }

    /// Returns the ranges of keys in no space of these tables.
    private static func gaps(between tables: [StoredTable]) -> [KeyRange] {
        let ranges = ([.meta] + tables.flatMap(\.definition.spaces)).sorted().map(\.range)
        let ends = ranges.dropFirst().map(\.lower) + [[UInt8](repeating: 0xFF, count: 64)]
        return [KeyRange(from: [], to: KeySpace.meta.range.lower)]
            + zip(ranges, ends).map { KeyRange(from: $0.upper, to: $1) }
    }

    /// Writes the format record and the state of the definitions if they are missing or damaged. Returns whether they
    /// were.
    private func rebuildRecord(for engine: some OrderedKeyValueEngine, _ tables: [StoredTable]) throws -> Bool {
        var isRebuilt = false
        do {
            isRebuilt = try !checkFormat(for: engine)
        } catch let error as StoreError where error.code != .newerFormat {
            isRebuilt = true
        }
        let last = tables.flatMap(\.definition.spaces).max() ?? .meta
        let state = try? generation()
        if isRebuilt { try writeFormatRecord(for: engine) }
        try requireFeatures(of: tables)
        if state == nil || state.map({ $0.nextSpace <= last.number }) == true {
            isRebuilt = true
            try writeGeneration(
                of: Catalog(generation: state?.generation ?? 1, nextSpace: last.number + 1, tables: []))
        }
        return isRebuilt
    }
}
