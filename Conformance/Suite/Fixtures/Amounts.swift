internal import TidelineStore

extension ConformanceSettings {
    /// The row counts for which each operation is checked: 1, 17, 1,001, and ``rows``, or a quarter of them in profiles
    /// that take less time.
    var amounts: [Int] { Set([1, 17, 1_001, profile == .long ? rows : max(rows / 4, 1)]).sorted() }
}

/// The row counts that checks of amounts use.
///
/// A promise that holds for a few rows may not hold for many: arrays, caches, and batches have a size. Such promises
/// are checked for each of these amounts.
enum Amounts {
    static let all = [1, 2, 17, 1_001, 5_000]

    /// Returns a table for `count` rows, named after the number, with ties in every column.
    static func schema(_ count: Int) -> TableSchema {
        TableSchema(
            "Amount \(count)", columns: [.int("n"), .int("m"), .string("s")], systemColumns: [], indexes: [["n"]])
    }

    /// Returns `count` rows in an order other than that of their identifiers.
    static func rows(_ count: Int) -> [Row] {
        // The factor is a prime that is not a divisor of any amount.
        (0..<count).map { $0 * 2_713 % count }.map { number in
            [
                "id": .string(id(number)), "n": number % 11 == 0 ? .null : .int(Int64(number % 7)),
                "m": .int(Int64(number % 3)), "s": .string("text \(number % 13)"),
            ]
        }
    }

    /// Returns an identifier; identifiers sort like the numbers.
    static func id(_ number: Int) -> String { "Row-\(100_000 + number)" }
}
