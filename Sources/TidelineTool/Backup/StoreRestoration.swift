#if Serve
internal import TidelineServer
internal import TidelineStore

/// Creates a store from a backup.
struct StoreRestoration {
    /// Whether rows keep their timestamps.
    var keepsTimestamps: Bool

    /// Restores a backup into a store that does not exist or, in a database server, has no rows.
    func run(from file: String, to location: StoreLocation) throws -> StoreCopy {
        guard let destroy = location.destroy else { return try restore(file, to: location, inOneTransaction: true) }
        return try NewPath.create(location.path, remove: destroy) { unfinished in
            try restore(file, to: location.moved(to: unfinished), inOneTransaction: false)
        }
    }

    private func restore(_ file: String, to location: StoreLocation, inOneTransaction: Bool) throws -> StoreCopy {
        try BackupFile.read(file) { reader, schemas in
            let stamps = try keepsTimestamps ? nil : RestoredStamps(after: schemas, in: reader)
            let target = try location.open()
            defer { try? target.close() }
            let copy = try Self.fill(target, schemas, from: reader, stamps, inOneTransaction)
            try target.close()
            let written = try location.open()
            defer { try? written.close() }
            try Self.verify(copy, in: written)
            try written.close()
            return copy
        }
    }

    /// Copies the tables of a backup into a store without rows.
    ///
    /// If the one transaction fails, the tables that existed keep their requirements.
    static func fill(
        _ store: some LocalStore, _ schemas: [TableSchema], from reader: some StoreReader, _ stamps: RestoredStamps?,
        _ inOneTransaction: Bool
    ) throws -> StoreCopy {
        try requireEmpty(store)
        let earlier = try store.tables()
        try store.define(schemas.map(\.withoutRequirements))
        var copy = StoreCopy()
        // The records come first, because the tables' new clocks are written into them.
        let schemas = schemas.filter(\.isSystem) + schemas.filter { !$0.isSystem }
        if inOneTransaction {
            do {
                try store.redefine { writer in
                    try copy.copy(schemas, from: reader, stamps: stamps) { try $0(writer) }
                    return schemas
                }
            } catch {
                try? store.define(earlier)
                throw error
            }
        } else {
            try copy.copy(schemas, from: reader, stamps: stamps) { try store.write($0) }
            try store.define(schemas)
        }
        return copy
    }

    private static func verify(_ copy: StoreCopy, in store: some LocalStore) throws {
        try store.read { try copy.verify(in: $0) }
    }

    private static func requireEmpty(_ store: some LocalStore) throws {
        let tables = try store.tables()
        try store.read { reader in
            for table in tables where try reader.count(TableQuery(table.name)) > 0 {
                throw ToolError("the store has rows in table \(table.name.debugDescription); restore into a new store")
            }
        }
    }
}
#endif
