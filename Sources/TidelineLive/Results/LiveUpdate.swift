public import TidelineStore

/// The result of a live query as of a commit, with its difference from the update before.
public struct LiveUpdate<Element: Sendable>: Sendable {
    /// The rows, in the query's order.
    public let rows: LiveSnapshot<Element>
    /// The difference from the rows of the previous update. In the first update, all rows are inserted.
    public let changes: LiveChanges
    /// The number of the commit as of which the rows are current.
    ///
    /// The store counts the commits that change a table under observation. All live queries of a store that were
    /// updated by one commit have the same number.
    public let commit: Int
    /// The number of matching rows regardless of skip and limit, if the query requests it.
    public let totalCount: Int?
    /// The errors of changed rows that could not be decoded, which are not in ``rows``. Each has the table, the
    /// identifier, and, if it is known, the column. The other rows are not affected.
    public let failures: [StoreError]

    /// Applies the changes to an array that holds the rows of the previous update.
    public func apply(to array: inout [Element]) {
        let gone = (changes.removed + changes.moved.map(\.from)).sorted()
        for position in gone.reversed() { array.remove(at: position) }
        let added = (changes.inserted + changes.moved.map(\.to)).sorted()
        for position in added { array.insert(rows[position], at: position) }
        for position in changes.updated { array[position] = rows[position] }
    }
}

/// The rows of a live query as of one commit, in the query's order.
///
/// A snapshot shares its storage with the snapshots before and after it, so that keeping one costs little.
public struct LiveSnapshot<Element: Sendable>: RandomAccessCollection, Sendable {
    /// The rows, or `nil` if there are none.
    let list: KeyedList<Element>?

    public var startIndex: Int { 0 }
    public var endIndex: Int { list?.count ?? 0 }
    public subscript(position: Int) -> Element {
        guard let list, position >= 0, position < list.count else {
            preconditionFailure("no row \(position) in a snapshot of \(endIndex)")
        }
        return list[position].element
    }
}
