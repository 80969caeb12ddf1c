#if Commands
internal import ArgumentParser
internal import TidelineStore

/// Checks that a number is in the range that an option accepts.
/// - Throws: `ValidationError`, with the option's name and its range, if the number is out of range.
package func confirm(_ number: Int, in range: ClosedRange<Int>, _ option: String) throws {
    guard range.contains(number) else {
        throw ValidationError(
            "\(option) must be a number from \(range.lowerBound) to \(range.upperBound), not \(number).")
    }
}

/// Returns ` Did you mean "x"?` for the name in `names` that is closest to `word` or begins with it, or an empty string
/// if no name is close enough to suggest a typing error.
package func suggestion(for word: String, among names: some Collection<String>) -> String {
    closestName(to: word, among: names).map { " Did you mean \($0.debugDescription)?" } ?? ""
}
#endif
