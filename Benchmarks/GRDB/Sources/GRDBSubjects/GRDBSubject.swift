internal import GRDB
public import TidelineBenchmark
public import TidelineStore

/// GRDB as a subject of the benchmark, in two common styles.
public enum GRDBSubject {
    /// The names of the styles: `Codable` records, and SQL with cached statements.
    public static let names = ["grdb-codable", "grdb-raw"]

    /// Returns the subject with a name, or `nil` if there is none.
    /// - Parameter durability: The durability of commits, normal or full.
    public static func named(
        _ name: String, durability: StoreCapabilities.Durability = .normal
    ) -> BenchmarkSubject? {
        switch name {
        case "grdb-codable": make(name, durability) { try GRDBSession<CodableStyle>($0, durability: durability) }
        case "grdb-raw": make(name, durability) { try GRDBSession<RawStyle>($0, durability: durability) }
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

/// A style of using GRDB; each function is the body of a transaction.
protocol GRDBStyle: SendableMetatype {
    /// The app's type of a row.
    associatedtype Item: Sendable

    /// The column type of timestamps.
    static var instant: Database.ColumnType { get }

    /// Returns the item to store for a row.
    static func item(_ row: borrowing RowView) -> Item

    /// Inserts or replaces rows.
    static func upsert(_ items: [Item], _ db: Database) throws

    /// Returns the row number of a row, or `nil` if it does not exist.
    static func get(_ id: String, _ access: Work.Access, _ db: Database) throws -> UInt64?

    /// Reads all rows in order of identifier.
    static func scan(_ access: Work.Access, _ db: Database) throws -> Answer

    /// Reads the first rows of a list, ordered by rank.
    static func find(_ filter: RowFilter, limit: Int, _ db: Database) throws -> Answer

    /// Fetches the items of a live query.
    static func items(_ request: LiveRequest, _ db: Database) throws -> [Item]

    /// Counts the rows of a list.
    static func count(_ filter: RowFilter, _ db: Database) throws -> Int

    /// Deletes rows by identifier.
    static func delete(_ ids: [String], _ db: Database) throws -> Int

    /// Deletes the rows of a list.
    static func delete(matching filter: RowFilter, _ db: Database) throws -> Int
}

extension Answer {
    /// Adds the next row of a scan or query.
    mutating func add(_ number: UInt64) {
        count += 1
        checksum &+= number &* UInt64(count)
    }
}

/// The values of columns that may be null.
extension RowChecksum {
    static func value(of text: String?) -> UInt64 { text.map { value(of: $0) } ?? null }

    static func value(of integer: Int64?) -> UInt64 { integer.map { value(of: $0) } ?? null }

    static func value(of bool: Bool?) -> UInt64 { bool.map { value(of: $0) } ?? null }
}
