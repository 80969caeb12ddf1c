internal import TidelineStore

/// How many of something the checks of amounts try.
///
/// A promise that is kept for a few need not be kept for many: arrays, caches and batches have a size. A promise about one
/// is checked at each of these amounts.
enum Amounts {
    static let all = [1, 2, 17, 1_001, 5_000]

    /// A table for so many rows, named after the number, with ties in every column.
    static func schema(_ count: Int) -> TableSchema {
        TableSchema(
            "Amount \(count)", columns: [.int("n"), .int("m"), .string("s")], systemColumns: [], indexes: [["n"]])
    }

    /// So many rows, in another order than that of their ids.
    static func rows(_ count: Int) -> [Row] {
        // The factor is a prime that divides none of the amounts.
        (0..<count).map { $0 * 2_713 % count }.map { number in
            [
                "id": .string(id(number)), "n": number % 11 == 0 ? .null : .int(Int64(number % 7)),
                "m": .int(Int64(number % 3)), "s": .string("text \(number % 13)"),
            ]
        }
    }

    /// The ids are in order of the numbers.
    static func id(_ number: Int) -> String { "Row-\(100_000 + number)" }
}
