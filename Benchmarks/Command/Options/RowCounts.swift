internal import ArgumentParser
internal import TidelineSupport

/// The numbers of `--rows`.
struct RowCounts: ExpressibleByArgument, Sendable, Hashable {
    /// In their order, each once.
    let numbers: [Int]

    /// How many rows there may be.
    static let range = 100...100_000_000

    /// Reads numbers with commas between them; `k` stands for thousand and `m` for million.
    init?(argument: String) {
        var numbers: [Int] = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let number = Self.number(part.lowercased()), Self.range.contains(number) else { return nil }
            numbers.append(number)
        }
        self.numbers = numbers.uniqued()
    }

    private static func number(_ text: String) -> Int? {
        let units: [Character: Int] = ["k": 1_000, "m": 1_000_000]
        guard let unit = text.last.flatMap({ units[$0] }) else { return Int(text) }
        guard let number = Int(text.dropLast()) else { return nil }
        let (product, isTooBig) = number.multipliedReportingOverflow(by: unit)
        return isTooBig ? nil : product
    }
}
