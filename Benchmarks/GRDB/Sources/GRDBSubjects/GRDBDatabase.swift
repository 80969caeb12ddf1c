internal import GRDB
internal import TidelineBenchmark
internal import TidelineStore

/// Opens a database pool with the settings of Tideline's SQLite store, so that only the libraries differ.
enum GRDBDatabase {
    static func open(
        _ opening: BenchmarkOpening, instant: Database.ColumnType, durability: StoreCapabilities.Durability
    ) throws -> DatabasePool {
        guard opening.table == BenchmarkTable(isIndexed: opening.table.isIndexed) else {
            throw WorkNotApplicable("the record has \(BenchmarkTable.leastColumns) columns")
        }
        var configuration = Configuration()
        configuration.maximumReaderCount = 8
        configuration.prepareDatabase { db in
            // Afterwards the pool enables the write-ahead log and sets `synchronous` to NORMAL.
            for setting in ["cache_size = -8192", "cache_spill = 4096", "mmap_size = 268435456", "temp_store = MEMORY"]
            {
                try db.execute(sql: "PRAGMA \(setting)")
            }
        }
        let pool = try DatabasePool(path: opening.directory + "/items.sqlite", configuration: configuration)
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 8000")
            try db.execute(sql: "PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
        }
        try pool.write { try define(opening.table, instant, $0) }
        return pool
    }

    private static func define(_ table: BenchmarkTable, _ instant: Database.ColumnType, _ db: Database) throws {
        try db.create(table: "items", options: .ifNotExists) { items in
            items.primaryKey("id", .text)
            items.column("text", .text)
            items.column("list", .text)
            items.column("rank", .integer)
            items.column("done", .boolean)
            items.column("score", .double)
            items.column("due", instant)
            items.column("note", .text)
            items.column("owner", .text)
            items.column("updatedAt", instant)
            items.column("version", .text)
        }
        guard table.isIndexed else { return }
        try db.create(index: "itemsByRank", on: "items", columns: ["list", "rank"], options: .ifNotExists)
    }
}
