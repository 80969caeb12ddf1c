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
