package import TidelineStore

/// The record of a served table in the store: its last timestamp, and the union of all its definitions by any service.
///
/// The records are the rows of the system table that marks a server's store. Their identifiers are the tables' names.
package enum ServedTableRecord {
    /// The definition of the system table.
    ///
    /// `clock` is the table's last timestamp, `definition` its definition as JSON, and `revision` a number that increases
    /// with each change of the definition. All are null for a table that only earlier versions have written to.
    package static let schema: TableSchema = {
        var schema = StoreRole.serverMark
        schema.columns = [.timestamp("clock"), .string("definition"), .int("revision")]
        return schema
    }()

    // MARK: Clock

    /// Returns the last timestamp of a table, or `nil` if the table has no rows.
    ///
    /// The table of an earlier version, which kept no clock, continues at the greatest timestamp of its rows.
    package static func clock(of table: String, in reader: some StoreReader) throws -> Timestamp? {
        let stored = try reader.withRow(in: schema.name, id: .string(table)) { $0["clock"]?.timestamp }
        if let stored, let stored { return stored }
        var greatest: Timestamp?
        try reader.scan(Query(table).order(by: "updatedAt", descending: true).limit(1)) { row in
            greatest = row["updatedAt"]?.timestamp
            return .stop
        }
        return greatest
    }

    package static func setClock(of table: String, to stamp: Timestamp, in writer: some StoreWriter) throws {
        try writer.upsert(["id": .string(table), "clock": .timestamp(stamp)], into: schema.name)
    }

    // MARK: Definition

    /// Returns the revision of a table's definition, or 0 if it was never recorded.
    static func revision(of table: String, in reader: some StoreReader) throws -> Int64 {
        try reader.withRow(in: schema.name, id: .string(table)) { $0["revision"]?.int ?? 0 } ?? 0
    }

    /// Returns the stored definition of a table with everything that any service has added to it, or `nil` if the store
    /// has no such table.
    static func definition(of table: String, in reader: some StoreReader) throws -> TableSchema? {
        guard let stored = try storedDefinition(of: table, in: reader) else { return nil }
        guard let recorded = try recordedDefinition(of: table, in: reader) else { return stored }
        return try stored.union(recorded)
    }

    /// Returns whether the record and the store have everything that a definition has, and the store all that is recorded.
    static func isComplete(_ definition: TableSchema, in reader: some StoreReader) throws -> Bool {
        guard let stored = try storedDefinition(of: definition.name, in: reader),
            let recorded = try recordedDefinition(of: definition.name, in: reader)
        else { return false }
        return try stored.includes(definition) && stored.includes(recorded) && recorded.includes(stored)
    }

    /// Adds a definition to the record of its table.
    ///
    /// - Returns: The definition that the store lacks, or `nil` if its own definition is complete.
    static func add(_ definition: TableSchema, in writer: some StoreWriter) throws -> TableSchema? {
        let name = definition.name
        let stored = try storedDefinition(of: name, in: writer)
        let recorded = try recordedDefinition(of: name, in: writer)
        var union = try stored?.union(definition) ?? definition
        if let recorded { union = try union.union(recorded) }
        if try recorded?.includes(union) != true {
            let row: Row = [
                "id": .string(name), "definition": .string(try RecordJSON.encode(union)),
                "revision": .int(try revision(of: name, in: writer) + 1),
            ]
            try writer.upsert(row, into: schema.name)
        }
        return union == stored ? nil : union
    }

    private static func storedDefinition(of table: String, in reader: some StoreReader) throws -> TableSchema? {
        do {
            return try reader.schema(of: table)
        } catch let error as StoreError where error.code == .noSuchTable {
            return nil
        }
    }

    private static func recordedDefinition(of table: String, in reader: some StoreReader) throws -> TableSchema? {
        let text = try reader.withRow(in: schema.name, id: .string(table)) { $0["definition"]?.string }
        guard let text, let text else { return nil }
        return try RecordJSON.decode(from: text)
    }
}
