internal import TidelineStore

/// Merges the changes of an ``OverlayTransaction`` into a scan of its snapshot, entry by entry.
struct OverlayCursor {
    typealias Values = (_ place: Int) -> OverlayChanges.Change

    private var cursor: MapCursor
    private let descending: Bool

    /// - Parameter keys: The changed keys in order, each with the place of its change.
    init(_ keys: OrderedMap, _ range: KeyRange, descending: Bool) {
        cursor = keys.cursor(in: range, descending: descending)
        self.descending = descending
    }

    /// Whether there are no more changes in the range.
    var isAtEnd: Bool { cursor.isAtEnd }

    /// Passes the changes before an entry of the snapshot to `body`, then the entry itself or its changed form.
    mutating func merge(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ values: Values, _ body: EntryBody
    ) throws -> ScanStep {
        while !cursor.isAtEnd {
            let order = unsafe cursor.withEntry { changed, _ in
                unsafe descending ? key.compare(changed) : changed.compare(key)
            }
            if order > 0 { break }
            let step = try unsafe passOn(values, body)
            if order == 0 || step == .stop { return step }
        }
        return try unsafe body(key, value)
    }

    /// Passes the changes after the last entry of the snapshot to `body`.
    mutating func finish(_ values: Values, _ body: EntryBody) throws {
        while !cursor.isAtEnd, try unsafe passOn(values, body) == .next {}
    }

    /// Passes the current change to `body`, unless its key was removed, and advances the cursor.
    private mutating func passOn(_ values: Values, _ body: EntryBody) throws -> ScanStep {
        defer { cursor.advance() }
        return try unsafe cursor.withEntry { key, place in
            guard case .stored(let value) = unsafe values(OverlayChanges.place(place)) else { return .next }
            return try unsafe body(key, value)
        }
    }
}
