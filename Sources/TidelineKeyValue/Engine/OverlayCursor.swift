internal import TidelineStore

/// Merges the changes of an ``OverlayTransaction`` into a scan of its snapshot, which gives one entry after the other.
struct OverlayCursor {
    typealias Body = (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep

    /// Where the value of a change is found by its place.
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

    /// Passes on the changes that come before an entry of the snapshot, then the entry itself or what it became.
    mutating func merge(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ values: Values, _ body: Body
    ) throws -> ScanStep {
        while !cursor.isAtEnd {
            let order = cursor.withEntry { changed, _ in descending ? key.compare(changed) : changed.compare(key) }
            if order > 0 { break }
            let step = try passOn(values, body)
            if order == 0 || step == .stop { return step }
        }
        return try body(key, value)
    }

    /// Passes on the changes that come after all entries of the snapshot.
    mutating func finish(_ values: Values, _ body: Body) throws {
        while !cursor.isAtEnd, try passOn(values, body) == .next {}
    }

    /// Passes on the change that the cursor is at, unless its key was removed, and moves on.
    private mutating func passOn(_ values: Values, _ body: Body) throws -> ScanStep {
        defer { cursor.advance() }
        return try cursor.withEntry { key, place in
            guard case .stored(let value) = values(OverlayChanges.place(place)) else { return .next }
            return try body(key, value)
        }
    }
}
