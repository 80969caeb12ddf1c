internal import Foundation
internal import TidelineStore

/// Queries whose answers depend on the process if a store uses its time zone, or the rules of its locale for letters,
/// numbers, or dates.
enum EnvironmentQueries {
    private static let schema = TableSchema(
        "Texts", columns: [.string("s"), .double("d"), .timestamp("at")], systemColumns: [],
        indexes: [["s"], ["d"], ["at"]])

    private static let texts: [Row] = [
        ["id": "TITLE-I", "s": "TITLE", "d": 1.5], ["id": "title-ı", "s": "tıtle", "d": 1_234.25],
        ["id": "title-İ", "s": "İstanbul", "d": -0.5],
        ["id": "file", "s": "title", "at": .ticks(17_000_000_000_000_000)],
        ["id": "y", "s": "zebra"], ["id": "ä", "s": "ähre"], ["id": "å", "s": "aa"], ["id": "Z", "s": "Zebra"],
    ]

    /// Instants in summer and winter, before 1970, at the turn of a year, and around New York's changes in 2024.
    private static let instants: [Timestamp] = [
        (2024, 1, 1, 0, 0, 0), (2023, 12, 31, 23, 59, 59), (2024, 7, 15, 12, 30, 15), (2024, 3, 10, 6, 59, 59),
        (2024, 3, 10, 7, 0, 0), (2024, 11, 3, 5, 30, 0), (2024, 11, 3, 6, 30, 0), (1969, 12, 31, 18, 15, 1),
        (2024, 2, 29, 22, 45, 30),
    ].compactMap { parts in
        let parts = TimestampParts(
            year: parts.0, month: parts.1, day: parts.2, hour: parts.3, minute: parts.4, second: parts.5, fraction: 0)
        return Timestamp(parts)
    }

    private static var rows: [Row] {
        texts
            + instants.enumerated().map { number, instant -> Row in
                ["id": .string("i\(number)"), "at": .timestamp(instant)]
            }
    }

    static let queries: [TableQuery] = {
        let (s, at, all) = (RowPredicate.column("s"), RowPredicate.column("at"), TableQuery(schema.name))
        let predicates: [RowPredicate] = [
            s.lowercased == "title", s.uppercased == "TITLE", s.lowercased == "istanbul", s.lowercased.hasPrefix("i"),
            s.uppercased.contains("I"), .column("id") == "title-i", .column("id") == "FILE", .column("d") == 1.5,
            .column("d") > 1_000, at.year == 2023, s >= "z",
        ]
        // Every part that any of the instants has in UTC.
        let operands = [at.year, at.month, at.day, at.hour, at.minute, at.second]
        let parts = instants.map(\.parts).flatMap { parts -> [RowPredicate] in
            let values = [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second]
            return zip(operands, values).map { $0 == .literal(.int(Int64($1))) }
        }
        return (predicates + parts).map { all.filter($0) } + ["s", "id", "d"].map { all.order(by: $0) }
    }()

    /// Returns the answers of a store in the locale of the environment: the id and the double of each row found.
    static func answers(of store: any LocalStore) throws -> [String] {
        // A process has the locale "C" until it asks for that of its environment, as apps with a user interface do.
        setlocale(LC_ALL, "")
        try store.define([schema])
        try store.put(rows, into: schema.name)
        return try store.read { reader in try queries.map { try text(reader.rows(matching: $0).rows) } }
    }

    /// Returns the correct answers.
    static func expected() throws -> [String] {
        let packed = try schema.packed(schema.completing(rows))
        return try queries.map { query in try text(Answer.expected(query, schema, packed).rows) }
    }

    private static func text(_ rows: [Row]) -> String {
        rows.map { "\($0.idText) \($0["d"] ?? .null)" }.joined(separator: ", ")
    }
}

extension CheckContext {
    /// Fails unless a second process with more environment variables gives the correct answers.
    fileprivate func expectAnswers(in environment: [String: String], _ what: String) throws {
        let expected = try EnvironmentQueries.expected()
        let found = try childFinishing(
            [.open(opening(unusedName)), .askEnvironmentQueries, .close], environment: environment)
        for (query, (answer, right)) in zip(EnvironmentQueries.queries, zip(found, expected)) where answer != right {
            throw CheckFailure("with \(what), \(query.swiftSource) finds [\(answer)], expected [\(right)]")
        }
        try expect(found.count, is: expected.count, "the answers of a process with \(what)")
    }
}

extension Check {
    /// Instants, text, and numbers in processes with other time zones and locales.
    static let filterEnvironments: [Check] = [
        Check(
            "FIL-149", "The parts of an instant are those in UTC in a process with any time zone",
            why: "Calendars and SQL's local time use the zone of the process. Each zone is that of a second process.",
            needs: [.process]
        ) { context in
            // Zones a full day apart, with half hours, and with daylight saving time in both hemispheres.
            for zone in [
                "Pacific/Kiritimati", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe", "EST5EDT",
            ] {
                try context.expectAnswers(in: ["TZ": zone], "TZ=\(zone)")
            }
        },
        Check(
            "FIL-152", "Letters, numbers, order, and dates are the same in a process with any locale",
            why: "In Turkish, the small letter of I is not i: names and ids that are folded by locale are not found.",
            needs: [.process]
        ) { context in
            // Turkish and Azerbaijani pair I with ı and i with İ; the Thai calendar counts years from 543 BC; Arabic
            // and German write numbers differently; Swedish and Danish sort letters differently.
            for locale in ["tr_TR", "az_AZ", "th_TH", "ar_EG", "de_DE", "sv_SE", "da_DK"] {
                let name = "\(locale).UTF-8"
                try context.expectAnswers(in: ["LC_ALL": name, "LANG": name], "the locale \(name)")
            }
        },
    ]
}
