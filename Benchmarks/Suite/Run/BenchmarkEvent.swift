/// What a run tells as it goes on.
public struct BenchmarkEvent: Sendable {
    /// What happened.
    public var kind: Kind
    /// How much of the run is done, from 0 to 1, as far as the numbers of rows and repetitions tell.
    public var share: Double

    /// What can happen.
    public enum Kind: Sendable {
        /// Databases are being filled with this many rows.
        case loading(rows: Int)
        /// A subject begins a repetition.
        case repetition(Repetition)
        /// A workload has ended for a number of rows.
        case ended(WorkloadResult)
    }

    /// A repetition that begins.
    public struct Repetition: Sendable {
        /// The workload's id.
        public var workload: String
        /// How many rows the table has.
        public var rows: Int
        /// The subject's name.
        public var subject: String
        /// Which one it is, from 1; nil for a warm-up.
        public var number: Int?
    }
}
