internal import GRDB
public import TidelineBenchmark
public import TidelineStore

/// GRDB as a subject of the benchmark, in the two ways in which its users write it.
public enum GRDBSubject {
    /// The names of the ways: records that are `Codable`; SQL with cached statements and rows.
    public static let names = ["grdb-codable", "grdb-raw"]

    /// One of them; nil for another name.
    /// - Parameter durability: What a commit survives, normal or full.
    public static func named(
        _ name: String, durability: StoreCapabilities.Durability = .normal
    ) -> BenchmarkSubject? {
        switch name {
        case "grdb-codable": make(name, durability) { try GRDBSession<CodableWay>($0, durability: durability) }
        case "grdb-raw": make(name, durability) { try GRDBSession<RawWay>($0, durability: durability) }
        default: nil
        }
    }

    private static func make(
        _ name: String, _ durability: StoreCapabilities.Durability,
        _ open: @escaping @Sendable (BenchmarkOpening) throws -> any BenchmarkSession
    ) -> BenchmarkSubject {
        BenchmarkSubject(
            name: name, kind: .other, engine: "sqlite", settings: ["durability=\(durability)"],
            durability: durability, open: open)
    }
}

/// A way to use GRDB: what a transaction of the benchmark's work consists of.
protocol GRDBWay {
    /// What the app has a row as.
    associatedtype Item: Sendable

    /// How an instant is stored.
    static var instant: Database.ColumnType { get }

    /// The item of a row that an app is about to store.
    static func item(_ row: borrowing RowView) -> Item

    /// Inserts or replaces rows.
    static func upsert(_ items: [Item], _ db: Database) throws

    /// The number of the row of that id; nil if there is none.
    static func get(_ id: String, _ access: Work.Access, _ db: Database) throws -> UInt64?

    /// All rows in order of id.
    static func scan(_ access: Work.Access, _ db: Database) throws -> Answer

    /// The first rows of a list, by rank.
    static func find(_ filter: RowFilter, limit: Int, _ db: Database) throws -> Answer

    /// How many rows a list has.
    static func count(_ filter: RowFilter, _ db: Database) throws -> Int

    /// Deletes the rows of these ids.
    static func delete(_ ids: [String], _ db: Database) throws -> Int

    /// Deletes the rows of a list.
    static func delete(matching filter: RowFilter, _ db: Database) throws -> Int
}

extension Answer {
    /// Adds the next row of a scan or a query.
    mutating func add(_ number: UInt64) {
        count += 1
        checksum &+= number &* UInt64(count)
    }
}
