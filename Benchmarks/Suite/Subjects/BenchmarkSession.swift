/// A subject's open database.
///
/// ``perform(_:noting:)`` may be called on several threads at once: reading beside reading and beside one writer.
public protocol BenchmarkSession: AnyObject, Sendable {
    /// Does the work and answers what it came to.
    ///
    /// This is the time that is measured, so that nothing else belongs here: what the work needs is in it, made before.
    ///
    /// - Parameter latencies: Takes the time of each operation, where ``Work`` says what one is.
    /// - Throws: ``WorkNotApplicable`` for work that the subject does not do; whatever the subject throws.
    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer

    /// Makes what the subject itself would be given for the work, such as records of its own, before the time is taken; not
    /// every work is prepared. The default does nothing.
    func prepare(_ work: Work) throws

    /// Closes the database.
    func close() throws
}

extension BenchmarkSession {
    public func prepare(_ work: Work) {}
}

/// The error of a subject that is asked for work it does not do; the report says so in its place.
public struct WorkNotApplicable: Error, CustomStringConvertible {
    /// Why not, such as `bare engine: no sync`.
    public let reason: String

    /// An error with its reason.
    public init(_ reason: String) { self.reason = reason }

    public var description: String { reason }
}

/// What work came to: it must be the same for all who do it.
public struct Answer: Sendable, Hashable, Codable {
    /// How many rows were written, found or removed.
    public var count: Int
    /// What the rows held that were read; see ``RowChecksum``. Zero where nothing is read.
    public var checksum: UInt64

    /// An answer.
    public init(count: Int = 0, checksum: UInt64 = 0) {
        self.count = count
        self.checksum = checksum
    }

    /// Adds what a further part of the work came to: checksums of parts add up, so that their order does not matter.
    public static func += (a: inout Answer, b: Answer) {
        a.count += b.count
        a.checksum &+= b.checksum
    }
}
