internal import ArgumentParser

/// Refuses a number that an option does not take.
/// - Throws: `ValidationError`, with the option's name and the numbers it takes.
package func confirm(_ number: Int, in range: ClosedRange<Int>, _ option: String) throws {
    guard range.contains(number) else {
        throw ValidationError("\(option) is a number from \(range.lowerBound) to \(range.upperBound), not \(number).")
    }
}
