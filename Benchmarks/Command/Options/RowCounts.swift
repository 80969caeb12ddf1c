internal import ArgumentParser
internal import TidelineSupport

/// The numbers of `--rows`.
struct RowCounts: Sendable, Hashable {
    /// In their order, each once.
    let numbers: [Int]

    /// How many rows there may be.
    static let range = 100...100_000_000

    /// Reads numbers with commas between them; `k` stands for thousand and `m` for million.
    /// - Throws: `ValidationError` for what is no number, and for too few or too many rows.
    init(argument: String) throws {
        let words = argument.split(separator: ",", omittingEmptySubsequences: false)
        numbers = try words.map { word in
            guard let number = Self.number(word.lowercased()), Self.range.contains(number) else {
                throw ValidationError(
                    "--rows takes numbers from \(Self.range.lowerBound) to \(Self.range.upperBound / 1_000_000)m, such as"
                        + " 100000,1m; not \(String(word).debugDescription).")
            }
            return number
        }.uniqued()
    }

    private static func number(_ text: String) -> Int? {
        let units: [Character: Int] = ["k": 1_000, "m": 1_000_000]
        guard let unit = text.last.flatMap({ units[$0] }) else { return Int(text) }
        guard let number = Int(text.dropLast()) else { return nil }
        let (product, isTooBig) = number.multipliedReportingOverflow(by: unit)
        return isTooBig ? nil : product
    }
}
