package import TidelineStore
internal import TidelineWire

/// The record of a served table in the store: its last timestamp, and the union of all its definitions by any service.
///
/// The records are the rows of the system table that marks a server's store. Their identifiers are the tables' names.
package struct ServedTableRecord {
    /// The definition of the system table.
    ///
    /// `clock` is the table's last timestamp, `definition` its definition as JSON, and `revision` a number that
    /// increases with each change of the definition. All are null for a table that only earlier versions have written
    /// to.
    package static let schema: TableSchema = {
        var schema = StoreRole.serverMark
        schema.columns = [.timestamp("clock"), .string("definition"), .int("revision")]
        return schema
    }()

    /// The last timestamp of the table, or `nil` if it has no rows or is the table of an earlier version, which kept no
    /// clock.
    private(set) var clock: Timestamp?
    /// The revision of the table's definition, or 0 if it was never recorded.
    private(set) var revision: Int64 = 0

    /// Reads the record of a table.
    init(of table: String, in reader: some StoreReader) throws {
        let stored = try reader.withRow(in: Self.schema.name, id: .string(table)) { row in
            (row["clock"]?.timestamp, row["revision"]?.int)
        }
        clock = stored?.0
        revision = stored?.1 ?? 0
    }

    // MARK: Clock

    /// Returns the last timestamp of a table, stored or from its rows, or `nil` if the table has no rows.
    package static func clock(of table: String, in reader: some StoreReader) throws -> Timestamp? {
        try ServedTableRecord(of: table, in: reader).clock ?? greatestTimestamp(of: table, in: reader)
    }

    /// Returns the greatest timestamp of a table's rows, at which the clock of a table without a stored one continues.
    package static func greatestTimestamp(of table: String, in reader: some StoreReader) throws -> Timestamp? {
        var greatest: Timestamp?
        try reader.scan(TableQuery(table).order(by: "updatedAt", descending: true).limit(1)) { row in
            greatest = row["updatedAt"]?.timestamp
            return .stop
        }
        return greatest
    }

    /// Returns the earliest timestamp after another one of a table.
    package static func stamp(after stamp: Timestamp, in table: String) throws -> Timestamp {
        let next = stamp.advanced(byTicks: 1)
        guard next > stamp else {
            throw StoreError(.invalidValue, "no later timestamp is possible", table: table, column: "updatedAt")
        }
        return next
    }

    package static func setClock(of table: String, to stamp: Timestamp, in writer: some StoreWriter) throws {
        try writer.upsert(["id": .string(table), "clock": .timestamp(stamp)], into: schema.name)
    }

    // MARK: Definition

    /// Returns the stored definition of a table with everything that any service has added to it, or `nil` if the store
    /// has no such table.
    static func definition(
        of table: String, in reader: some StoreReader, _ rules: ServedSchemas
    ) throws -> TableSchema? {
        guard let stored = try reader.schemaIfDefined(of: table) else { return nil }
        guard let recorded = try recordedDefinition(of: table, in: reader) else { return stored }
        return rules.ownerFirst(try stored.union(recorded))
    }

    /// Returns whether the record and the store have everything that a definition has, and the store all that is
    /// recorded.
    static func isComplete(
        _ definition: TableSchema, in reader: some StoreReader, _ rules: ServedSchemas
    ) throws -> Bool {
        guard let stored = try reader.schemaIfDefined(of: definition.name),
            let recorded = try recordedDefinition(of: definition.name, in: reader).map(rules.ownerFirst)
        else { return false }
        return try stored.includes(definition) && stored.includes(recorded) && recorded.includes(stored)
    }

    /// Adds a definition to the record of its table.
    ///
    /// - Returns: The definition that the store lacks, or `nil` if its own definition is complete.
    static func add(
        _ definition: TableSchema, in writer: some StoreWriter, _ rules: ServedSchemas
    ) throws -> TableSchema? {
        let name = definition.name
        let stored = try writer.schemaIfDefined(of: name)
        let recorded = try recordedDefinition(of: name, in: writer)
        var union = try stored?.union(definition) ?? definition
        if let recorded { union = try union.union(recorded) }
        union = rules.ownerFirst(union)
        if try recorded?.includes(union) != true {
            let row: Row = [
                "id": .string(name), "definition": .string(try RecordJSON.encode(union)),
                "revision": .int(try ServedTableRecord(of: name, in: writer).revision + 1),
            ]
            try writer.upsert(row, into: schema.name)
        }
        return union == stored ? nil : union
    }

    private static func recordedDefinition(of table: String, in reader: some StoreReader) throws -> TableSchema? {
        let text = try reader.withRow(in: schema.name, id: .string(table)) { $0["definition"]?.string }
        guard let text, let text else { return nil }
        return try RecordJSON.decode(from: text)
    }
}
