/// A deliberately broken store: one flaw, the promise that it breaks, and the checks that find it.
package struct BrokenStore: Sendable {
    package let flaw: Flaw
    /// The promise of the contract that the flaw breaks.
    package let promise: String
    /// The checks of that promise; each must find the flaw.
    package let checks: [String]
    /// A word that the promise or the message of a finding must contain, so that the author knows what to fix.
    package let word: String
    /// The number of rows with which the checks run.
    package let rows: Int

    init(_ flaw: Flaw, _ promise: String, _ checks: String..., saying word: String, rows: Int = 500) {
        self.rows = rows
        self.flaw = flaw
        self.promise = promise
        self.checks = checks
        self.word = word
    }

    /// All broken stores.
    package static let all: [BrokenStore] = [
        upsert, lookup, indexes, conditions, functions, logic, order, paging, values, tables, transactions, files,
        amounts, long, sharing, capabilities,
    ].flatMap { $0 }
}

extension BrokenStore: CustomStringConvertible {
    /// The flaw and the promise.
    package var description: String { "\(flaw.rawValue): \(promise)" }
}
