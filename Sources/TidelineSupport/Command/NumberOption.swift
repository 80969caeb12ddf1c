#if Commands
internal import ArgumentParser

/// Checks that a number is in the range that an option accepts.
/// - Throws: `ValidationError`, with the option's name and its range, if the number is out of range.
package func confirm(_ number: Int, in range: ClosedRange<Int>, _ option: String) throws {
    guard range.contains(number) else {
        throw ValidationError(
            "\(option) must be a number from \(range.lowerBound) to \(range.upperBound), not \(number).")
    }
}
#endif
