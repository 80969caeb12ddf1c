internal import TidelineStore

extension Flaw {
    /// Returns the changes that remain of a transaction whose body threw, or `nil` if none remain.
    func rolledBack(_ committed: PlainState, _ session: PlainSession) -> PlainState? {
        var state = committed
        switch self {
        case .rollbackKeepsAll: return session.state
        case .rollbackForgetsSecondTable, .rollbackForgetsEleventhTable:
            for name in session.changedTables.dropFirst(self == .rollbackForgetsSecondTable ? 1 : 10) {
                state.tables[name] = session.state.tables[name]
            }
        case .rollbackKeepsIndexes:
            for (name, table) in session.state.tables { state.tables[name]?.indexes = table.indexes }
        case .deletesNotRolledBack: session.removeAgain(from: &state)
        default: return nil
        }
        return state
    }

    /// Returns the committed state of a transaction whose body returned.
    func committed(_ session: PlainSession) -> PlainState {
        var state = session.state
        if self == .deletesAppliedLast { session.removeAgain(from: &state) }
        if self == .secondTableNotCommitted || self == .eleventhTableNotCommitted {
            for name in session.changedTables.dropFirst(self == .secondTableNotCommitted ? 1 : 10) {
                state.tables[name] = session.start.tables[name]
            }
        }
        return state
    }
}

extension PlainSession {
    /// The tables in which rows were changed, in the order of the changes.
    fileprivate var changedTables: [String] {
        var names: [String] = []
        for change in changes {
            switch change {
            case .define: break
            case .put(let name, _), .remove(let name, _):
                if !names.contains(name) { names.append(name) }
            }
        }
        return names
    }

    fileprivate func removeAgain(from state: inout PlainState) {
        for case .remove(let name, let key) in changes { _ = state.tables[name]?.remove(key) }
    }
}
