internal import TidelineStore

/// What is done to a store, step by step: made from a seed, carried out beside a model, shrunk, and printed as Swift.
struct Script: Sendable {
    /// One call within a write.
    enum Change: Sendable {
        case upsert([Row], into: String)
        /// An upsert whose refusal the body passes over.
        case attempt([Row], into: String)
        case delete([RowID], from: String)
        case deleteMatching(Query)
        /// A question within the write.
        case look(Query)
    }

    /// One step.
    enum Step: Sendable {
        case define([TableSchema])
        /// Changes in one write, which throws at its end if it does not commit.
        case write([Change], commits: Bool)
        /// The store is closed and opened again, where that keeps it.
        case reopen
        /// Another thread begins a read, unless one goes on already.
        case hold
        /// That read ends.
        case release
    }

    var steps: [Step]
}
