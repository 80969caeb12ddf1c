internal import TidelineStore

/// A traversal of an ``AccessPath`` through one snapshot.
///
/// This is a class so that the code that runs for each row passes it as one reference.
final class RowWalk {
    let path: AccessPath
    private let table: StoredTable
    private let keys: any KeySource
    /// The residual predicate.
    private let filter: CompiledFilter?
    private let index: IndexLookup?

    init(_ path: AccessPath, of table: StoredTable, keys: any KeySource) throws(StoreError) {
        self.path = path
        self.table = table
        self.keys = keys
        if let condition = path.filter {
            filter = try CompiledFilter(
                condition, of: table.evaluator, for: table.shape, wholeRows: table.wholeRows)
        } else {
            filter = nil
        }
        if case .index(let number) = path.source { index = IndexLookup(number, of: table) } else { index = nil }
    }

    /// Whether rows of the path have to be filtered.
    var isFiltered: Bool { filter != nil }

    // MARK: Rows

    /// Calls `body` with each row that matches, in the path's order.
    ///
    /// - Parameter isPassedOver: Whether a matching row can be skipped. It is called for some rows, before more of them
    ///   is read than the filter requires.
    func forEachMatch(
        passingOver isPassedOver: (RowBytes) throws(RowDamage) -> Bool = { _ throws(RowDamage) in false },
        _ body: (borrowing RowView) throws -> ScanStep
    ) throws {
        var cursor = RowCursor(table)
        if index != nil {
            try unsafe forEachPlace { key, _ in
                var step = ScanStep.next
                try unsafe withIndexedRow(key, &cursor) { step = try body($0) }
                return step
            }
        } else if let filter {
            try unsafe forEachPlace { key, value in
                guard try unsafe cursor.isMatch(key: key, value: value, of: filter) else { return .next }
                return try unsafe cursor.point(key: key, value: value, passingOver: isPassedOver)
                    ? try body(cursor.view) : .next
            }
        } else {
            try unsafe forEachPlace { key, value in
                try unsafe cursor.point(key: key, value: value, passingOver: isPassedOver)
                    ? try body(cursor.view) : .next
            }
        }
    }

    /// Calls `body` with every row of the path, in its order.
    private func forEachRow(_ body: (borrowing RowView) throws -> ScanStep) throws {
        var cursor = RowCursor(table)
        try unsafe forEachPlace { key, value in
            try unsafe cursor.point(key: key, value: value)
            return try body(cursor.view)
        }
    }

    /// Returns the number of matching rows.
    func countMatches() throws -> Int {
        var count = 0
        if let filter, index == nil {
            var cursor = RowCursor(table)
            try unsafe forEachPlace { key, value in
                if try unsafe cursor.isMatch(key: key, value: value, of: filter) { count += 1 }
                return .next
            }
        } else if isFiltered {
            try forEachMatch { _ in
                count += 1
                return .next
            }
        } else {
            try unsafe forEachPlace { _, _ in
                count += 1
                return .next
            }
        }
        return count
    }

    /// Calls `body` with each row of the window. Rows that are not needed are not read.
    ///
    /// - Returns: The number of matches among the visited rows, which are all rows if the window counts them.
    func forEachRow(in window: inout RowWindow, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int {
        if window.isEverything, !isFiltered, index == nil {
            try forEachRow(body)
            return 0
        }
        if index != nil {
            try forEachIndexedRow(in: &window, body)
        } else if let filter {
            try forEachMatch(of: filter, in: &window, body)
        } else {
            try forEachRow(of: &window, body)
        }
        return window.count
    }

    private func forEachIndexedRow(
        in window: inout RowWindow, _ body: (borrowing RowView) throws -> ScanStep
    ) throws {
        var cursor = RowCursor(table)
        try unsafe forEachPlace { key, _ in
            if window.skipsNext, !isFiltered {
                _ = window.admitsNext()
            } else {
                try unsafe withIndexedRow(key, &cursor) { row in
                    if window.admitsNext(), case .stop = try body(row) { window.complete() }
                }
            }
            return window.isDone ? .stop : .next
        }
    }

    private func forEachMatch(
        of filter: CompiledFilter, in window: inout RowWindow, _ body: (borrowing RowView) throws -> ScanStep
    ) throws {
        var cursor = RowCursor(table)
        try unsafe forEachPlace { key, value in
            guard try unsafe cursor.isMatch(key: key, value: value, of: filter) else { return .next }
            try unsafe cursor.point(key: key, value: value)
            if window.admitsNext(), case .stop = try body(cursor.view) { window.complete() }
            return window.isDone ? .stop : .next
        }
    }

    private func forEachRow(
        of window: inout RowWindow, _ body: (borrowing RowView) throws -> ScanStep
    ) throws {
        var cursor = RowCursor(table)
        try unsafe forEachPlace { key, value in
            if window.skipsNext {
                _ = window.admitsNext()
            } else {
                try unsafe cursor.point(key: key, value: value)
                if window.admitsNext(), case .stop = try body(cursor.view) { window.complete() }
            }
            return window.isDone ? .stop : .next
        }
    }

    /// Calls `body` with the row of an index key, if the row matches.
    @inline(__always)
    private func withIndexedRow(
        _ key: UnsafeRawBufferPointer, _ cursor: inout RowCursor, _ body: (borrowing RowView) throws -> Void
    ) throws {
        guard let index else { return }
        let filter = filter
        let rowKey = try unsafe index.rowKey(of: key)
        let isFound = try unsafe keys.find(rowKey) { value in
            try unsafe cursor.point(key: rowKey, value: value)
            try unsafe index.check(key, isOf: cursor.view)
            if let filter, try unsafe !cursor.matches(filter, key: rowKey) { return }
            try body(cursor.view)
        }
        if !isFound { throw index.damage("contains an entry without a row") }
    }

    // MARK: Places

    /// Calls `body` with each key of the path, a row's or an index's, in the path's order.
    func forEachPlace(_ body: EntryBody) throws {
        var last = ScanStep.next
        switch path.keyRanges {
        case .keys(let keys):
            for key in path.direction.isAscending ? keys : keys.reversed() {
                try unsafe key.withUnsafeBytes { key in
                    _ = try unsafe self.keys.find(key) { last = try unsafe body(key, $0) }
                }
                if case .stop = last { return }
            }
        case .ranges(let ranges) where ranges.count == 1:
            try unsafe scan(ranges[0], body)
        case .ranges(let ranges):
            for range in path.direction.isAscending ? ranges : ranges.reversed() {
                try unsafe scan(range) { key, value in
                    last = try unsafe body(key, value)
                    return last
                }
                if case .stop = last { return }
            }
        }
    }

    private func scan(_ range: KeyRange, _ body: EntryBody) throws {
        switch path.direction {
        case .unordered, .ascending: try unsafe keys.scan(range, descending: false, body)
        case .descending: try unsafe keys.scan(range, descending: true, body)
        case .descendingTiesAscending: try unsafe scanGroups(range, body)
        }
    }

    /// Scans in descending order, except that keys that differ only in the identifier are in ascending order of
    /// identifier.
    ///
    /// Each group of such keys is collected in memory. A group that exceeds the limit is visited by a separate scan.
    private func scanGroups(_ range: KeyRange, _ body: EntryBody) throws {
        guard let index else { return try unsafe keys.scan(range, descending: true, body) }
        var rest = range
        while true {
            var group = KeyGroup()
            var isTooLarge = false
            var step = ScanStep.next
            try unsafe keys.scan(rest, descending: true) { key, _ in
                let count = try unsafe index.idOffset(in: key)
                if unsafe !group.holds(key, prefixCount: count) {
                    step = try unsafe group.forEachKeyAscending(body)
                    if case .stop = step { return .stop }
                    unsafe group.begin(key, prefixCount: count)
                }
                isTooLarge = unsafe !group.add(key)
                return isTooLarge ? .stop : .next
            }
            if case .stop = step { return }
            guard isTooLarge else {
                _ = try unsafe group.forEachKeyAscending(body)
                return
            }
            try unsafe keys.scan(group.range(within: rest), descending: false) { key, value in
                step = try unsafe body(key, value)
                return step
            }
            if case .stop = step { return }
            rest.upper = group.prefix
        }
    }
}
