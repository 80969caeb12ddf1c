/// Why a run cannot begin, or cannot go on.
public struct BenchmarkError: Error, Sendable, CustomStringConvertible {
    /// What is so and what to do, for a person.
    public let message: String

    /// An error with its message.
    public init(_ message: String) { self.message = message }

    public var description: String { message }
}
