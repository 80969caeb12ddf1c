internal import TidelineStore

/// A decision of a conflict policy, compared with what its rule promises.
///
/// The ``Oracle`` lets a policy keep or drop whatever it wants, and so cannot see a decision for the wrong side.
struct DecisionCheck: Sendable {
    /// The policy, as the record of the decision names it.
    var rule: String
    /// The common ancestor, as far as it is known.
    var base: Row?
    /// The local row, the server row, and the decided row; `nil` for one that was deleted.
    var local: Row?
    var server: Row?
    var result: Row?

    /// Returns what is wrong with the decision, or `nil` if nothing is.
    ///
    /// - Parameter columns: The app's columns.
    func violation(in columns: [String]) -> String? {
        let expected: (name: String, row: Row?)?
        switch rule {
        case "serverWins": expected = ("the server row", server)
        case "clientWins": expected = ("the local row", local)
        case _ where rule.hasSuffix("(deletion: change wins)"): expected = ("the row that was changed", local ?? server)
        default: expected = nil
        }
        if let expected {
            let isDecided = columns.allSatisfy { result?[$0] ?? .null == expected.row?[$0] ?? .null }
            return isDecided && (result == nil) == (expected.row == nil) ? nil : "the result is not \(expected.name)"
        }
        guard rule.hasPrefix("merge"), let base, let local, let server else { return nil }
        return columns.lazy.compactMap { mergeViolation(in: $0, base, local, server) }.first
    }

    /// A column that one side changed takes the value of that side, and one that both changed alike takes that value.
    private func mergeViolation(in column: String, _ base: Row, _ local: Row, _ server: Row) -> String? {
        // Without a value, it is not known which side has changed the column.
        guard let before = base[column] else { return nil }
        let (mine, theirs) = (local[column] ?? .null, server[column] ?? .null)
        if case (.timestamp(let a), .timestamp(let b)) = (mine, theirs),
            a.flooredToMillisecond == b.flooredToMillisecond
        {
            // Times are the same to the millisecond.
            return nil
        }
        guard mine == before || theirs == before || mine == theirs else { return nil }
        let expected = mine == before ? theirs : mine
        let found = result?[column] ?? .null
        return found == expected
            ? nil : "\(column) is \(found) instead of \(expected), which one side alone has changed"
    }
}
