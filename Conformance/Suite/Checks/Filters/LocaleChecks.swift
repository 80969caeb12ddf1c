internal import Foundation
internal import TidelineStore

/// Queries whose answers depend on the locale of the process if a store uses its rules for letters, numbers, or dates.
enum LocaleQueries {
    /// Turkish and Azerbaijani pair I with ı and i with İ; the Thai calendar counts years from 543 BC; Arabic and
    /// German write numbers differently; Swedish and Danish sort letters differently.
    static let locales = ["tr_TR", "az_AZ", "th_TH", "ar_EG", "de_DE", "sv_SE", "da_DK"]

    static let schema = TableSchema(
        "Texts", columns: [.string("s"), .double("d"), .timestamp("at")], systemColumns: [], indexes: [["s"], ["d"]])

    static let rows: [Row] = [
        ["id": "TITLE-I", "s": "TITLE", "d": 1.5], ["id": "title-ı", "s": "tıtle", "d": 1_234.25],
        ["id": "title-İ", "s": "İstanbul", "d": -0.5],
        ["id": "file", "s": "title", "at": .ticks(17_000_000_000_000_000)],
        ["id": "y", "s": "zebra"], ["id": "ä", "s": "ähre"], ["id": "å", "s": "aa"], ["id": "Z", "s": "Zebra"],
    ]

    static let queries: [TableQuery] = {
        let (s, all) = (RowPredicate.column("s"), TableQuery(schema.name))
        let predicates: [RowPredicate] = [
            s.lowercased == "title", s.uppercased == "TITLE", s.lowercased == "istanbul", s.lowercased.hasPrefix("i"),
            s.uppercased.contains("I"), .column("id") == "title-i", .column("id") == "FILE", .column("d") == 1.5,
            .column("d") > 1_000, .column("at").year == 2023, s >= "z",
        ]
        return predicates.map { all.filter($0) } + ["s", "id", "d"].map { all.order(by: $0) }
    }()

    /// Returns a store's answers in the locale of the environment: the ids of each query, and each row's double.
    static func answers(of store: any LocalStore) throws -> [String] {
        // A process has the locale "C" until it asks for that of its environment, as apps with a user interface do.
        setlocale(LC_ALL, "")
        try store.define([schema])
        try store.put(rows, into: schema.name)
        return try store.read { reader in
            try queries.map { try reader.ids($0).joined(separator: " ") }
                + reader.allRows(schema.name).map { "\($0["d"] ?? .null)" }
        }
    }

    /// Returns the correct answers.
    static func expected() throws -> [String] {
        let packed = try schema.packed(schema.completing(rows))
        let ids = try queries.map { query in
            try Answer.expected(query, schema, packed).rows.map(\.idText).joined(separator: " ")
        }
        return ids + (try Answer.expected(TableQuery(schema.name), schema, packed).rows.map { "\($0["d"] ?? .null)" })
    }
}

extension Check {
    /// Text, numbers, and dates in processes with other locales.
    static let filterLocales: [Check] = [
        Check(
            "FIL-152", "Letters, numbers, order, and dates are the same in a process with any locale",
            why: "In Turkish, the small letter of I is not i: names and ids that are folded by locale are not found.",
            needs: [.process]
        ) { context in
            let expected = try LocaleQueries.expected()
            for locale in LocaleQueries.locales {
                let environment = ["LC_ALL": "\(locale).UTF-8", "LANG": "\(locale).UTF-8"]
                let found = try context.childFinishing(
                    [.open(context.opening(locale)), .askLocaleQueries, .close], environment: environment)
                for (index, (answer, right)) in zip(found, expected).enumerated() where answer != right {
                    let query = index < LocaleQueries.queries.count ? LocaleQueries.queries[index].swiftSource : "a row"
                    throw CheckFailure("in the locale \(locale), \(query) is [\(answer)], expected [\(right)]")
                }
                try context.expect(found.count, is: expected.count, "the answers of a process in the locale \(locale)")
            }
        }
    ]
}
