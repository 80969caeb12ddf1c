/// A store that is broken on purpose: one mistake, the promise that it breaks, and what finds it.
package struct BrokenStore: Sendable {
    package let flaw: Flaw
    /// The promise of the contract that it breaks.
    package let promise: String
    /// The checks of that promise; each must find the mistake.
    package let checks: [String]
    /// What the promise or the message of a finding must say, so that the author knows what to mend.
    package let word: String

    init(_ flaw: Flaw, breaks promise: String, foundBy checks: [String], saying word: String) {
        self.flaw = flaw
        self.promise = promise
        self.checks = checks
        self.word = word
    }

    /// All there are.
    package static let all: [BrokenStore] = [
        upsert, lookup, indexes, conditions, functions, logic, order, paging, values, tables, transactions, files,
        amounts, capabilities,
    ].flatMap { $0 }
}

extension BrokenStore: CustomStringConvertible {
    /// The mistake and the promise.
    package var description: String { "\(flaw.rawValue): \(promise)" }
}
