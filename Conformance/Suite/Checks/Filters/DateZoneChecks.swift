internal import TidelineStore

/// Queries for the parts of instants whose answers depend on the time zone if a store uses local time.
enum DateParts {
    /// Zones east and west of UTC: a full day apart, with half hours, and with daylight saving time in both
    /// hemispheres.
    static let zones = ["Pacific/Kiritimati", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe", "EST5EDT"]

    static let schema = TableSchema("Instants", columns: [.timestamp("at")], indexes: [["at"]])

    /// Instants in summer and winter, before 1970, at the turn of a year, and around New York's changes in 2024.
    static let rows: [Row] = [
        (2024, 1, 1, 0, 0, 0), (2023, 12, 31, 23, 59, 59), (2024, 7, 15, 12, 30, 15), (2024, 3, 10, 6, 59, 59),
        (2024, 3, 10, 7, 0, 0), (2024, 11, 3, 5, 30, 0), (2024, 11, 3, 6, 30, 0), (1969, 12, 31, 18, 15, 1),
        (2024, 2, 29, 22, 45, 30),
    ].enumerated().map { index, parts in
        let parts = TimestampParts(
            year: parts.0, month: parts.1, day: parts.2, hour: parts.3, minute: parts.4, second: parts.5, fraction: 0)
        return ["id": .string("i\(index)"), "at": Timestamp(parts).map { .timestamp($0) } ?? .null]
    }

    /// A query for every part that any of the instants has in UTC.
    static let queries: [TableQuery] = {
        let at = RowPredicate.column("at")
        let operands = [at.year, at.month, at.day, at.hour, at.minute, at.second]
        return rows.compactMap { $0["at"]?.timestamp?.parts }.flatMap { parts in
            let values = [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second]
            return zip(operands, values).map { TableQuery(schema.name, predicate: $0 == .literal(.int(Int64($1)))) }
        }
    }()

    /// Returns the answers of a store: for each query the ids in order, separated by spaces.
    static func answers(of store: any LocalStore) throws -> [String] {
        try store.define([schema])
        try store.put(rows, into: schema.name)
        return try store.read { reader in try queries.map { try reader.ids($0).joined(separator: " ") } }
    }

    /// Returns the correct answers.
    static func expected() throws -> [String] {
        let packed = try schema.packed(schema.completing(rows))
        return try queries.map { query in
            try Answer.expected(query, schema, packed).rows.map(\.idText).joined(separator: " ")
        }
    }
}

extension Check {
    /// Parts of instants in processes with other time zones.
    static let filterDateZones: [Check] = [
        Check(
            "FIL-149", "The parts of an instant are those in UTC in a process with any time zone",
            why: """
                A calendar, or SQL's local time, uses the time zone of the process. If checks run in UTC, the error is not \
                noticed, but a phone in another zone answers differently. Each zone is that of a second process.
                """,
            needs: [.process]
        ) { context in
            let expected = try DateParts.expected()
            for zone in DateParts.zones {
                let name = zone.replacing("/", with: "-")
                let found = try context.childFinishing(
                    [.open(context.opening(name)), .askDateParts, .close], environment: ["TZ": zone])
                try context.expect(found.count, is: expected.count, "the answers of a process with TZ=\(zone)")
                for (query, (ids, right)) in zip(DateParts.queries, zip(found, expected)) where ids != right {
                    throw CheckFailure(
                        "with TZ=\(zone), \(query.swiftSource) finds [\(ids)], expected [\(right)], as in UTC")
                }
            }
        }
    ]
}
