internal import TidelineStore

/// A sequence of store operations: generated from a seed, run beside a model, shrunk, and printed as Swift.
struct Script: Sendable {
    /// One call within a write.
    enum Change: Sendable {
        case upsert([Row], into: String)
        /// An upsert whose error the body catches.
        case attempt([Row], into: String)
        case delete([RowID], from: String)
        case deleteMatching(TableQuery)
        /// A query within the write.
        case look(TableQuery)
    }

    /// One step.
    enum Step: Sendable {
        case define([TableSchema])
        /// Changes in one write, which throws at its end if it does not commit.
        case write([Change], commits: Bool)
        /// The store is closed and reopened if it keeps its rows.
        case reopen
        /// Another thread begins a read, unless one is already open.
        case hold
        /// That read ends.
        case release
    }

    var steps: [Step]
}
