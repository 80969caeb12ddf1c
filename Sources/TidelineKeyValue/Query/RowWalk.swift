internal import TidelineStore

/// Goes along an ``AccessPath`` through one snapshot.
struct RowWalk<Snapshot: KeyValueSnapshot> {
    let path: AccessPath
    /// What is asked of each row.
    let filter: RowFilter?
    private let table: StoredTable
    private let map: KeyMap<Snapshot>
    private let index: IndexLookup?

    /// A key of the path, a row's or an index's, and its value.
    typealias PlaceBody = (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep

    init(_ path: AccessPath, of table: StoredTable, map: KeyMap<Snapshot>) throws(StoreError) {
        self.path = path
        self.table = table
        self.map = map
        if let condition = path.filter { filter = try RowFilter(condition, of: table) } else { filter = nil }
        if case .index(let number) = path.source { index = IndexLookup(number, of: table) } else { index = nil }
    }

    // MARK: Rows

    /// Calls `body` with each row that matches, in the path's order.
    func forEachMatch(_ body: (borrowing RowView) throws -> ScanStep) throws {
        var cursor = RowCursor(table)
        try forEachPlace { key, value in
            try withRow(key, value, &cursor) { row in
                guard filter?.matches(row) ?? true else { return .next }
                return try body(row)
            }
        }
    }

    /// Calls `body` with each row of the window; rows that need not be read are not.
    ///
    /// - Returns: How many rows matched of those that were come to: of all, when the window counts them.
    func forEachRow(in window: inout RowWindow, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int {
        var cursor = RowCursor(table)
        try forEachPlace { key, value in
            if filter == nil, window.passesOverNext {
                _ = window.takesNext()
            } else {
                try withRow(key, value, &cursor) { row in
                    guard filter?.matches(row) ?? true, window.takesNext() else { return }
                    if case .stop = try body(row) { window.complete() }
                }
            }
            return window.isDone ? .stop : .next
        }
        return window.count
    }

    private func withRow<T>(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ cursor: inout RowCursor,
        _ body: (borrowing RowView) throws -> T
    ) throws -> T {
        guard let index else {
            try cursor.point(key: key, value: value)
            return try body(cursor.view)
        }
        return try index.withRowKey(of: key) { rowKey in
            let result = try map.get(rowKey) { value in
                try cursor.point(key: rowKey, value: value)
                try index.check(key, isOf: cursor.view)
                return try body(cursor.view)
            }
            guard let result else { throw index.damage("holds an entry without its row") }
            return result
        }
    }

    // MARK: Places

    /// Calls `body` with each key of the path, a row's or an index's, in the path's order.
    func forEachPlace(_ body: PlaceBody) throws {
        var last = ScanStep.next
        switch path.places {
        case .keys(let keys):
            for key in path.direction.isAscending ? keys : keys.reversed() {
                try key.withUnsafeBytes { key in last = try map.get(key) { try body(key, $0) } ?? .next }
                if case .stop = last { return }
            }
        case .ranges(let ranges):
            for range in path.direction.isAscending ? ranges : ranges.reversed() {
                try scan(range) { key, value in
                    last = try body(key, value)
                    return last
                }
                if case .stop = last { return }
            }
        }
    }

    private func scan(_ range: KeyRange, _ body: PlaceBody) throws {
        switch path.direction {
        case .unordered, .ascending: try map.scan(range, descending: false, body)
        case .descending: try map.scan(range, descending: true, body)
        case .descendingTiesAscending: try scanGroups(range, body)
        }
    }

    /// Goes from the greatest to the least, but through keys that differ in the id alone by ascending id.
    ///
    /// Such a group is gathered until it is larger than what is held of one, and gone through by a scan of its own then.
    private func scanGroups(_ range: KeyRange, _ body: PlaceBody) throws {
        guard let index else { return try map.scan(range, descending: true, body) }
        var rest = range
        while true {
            var group = KeyGroup()
            var isTooLarge = false
            var step = ScanStep.next
            try map.scan(rest, descending: true) { key, _ in
                let count = try index.idOffset(in: key)
                if !group.holds(key, prefixCount: count) {
                    step = try group.forEachKeyAscending(body)
                    if case .stop = step { return .stop }
                    group.begin(key, prefixCount: count)
                }
                isTooLarge = !group.add(key)
                return isTooLarge ? .stop : .next
            }
            if case .stop = step { return }
            guard isTooLarge else {
                _ = try group.forEachKeyAscending(body)
                return
            }
            try map.scan(group.range(within: rest), descending: false) { key, value in
                step = try body(key, value)
                return step
            }
            if case .stop = step { return }
            rest.upper = group.prefix
        }
    }
}
