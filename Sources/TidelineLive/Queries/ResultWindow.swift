internal import TidelineStore

/// The first rows of a query's matching rows, of which a limit and a skip select the result.
///
/// There are some more rows than the result needs, so that rows can disappear from it without a new query.
struct ResultWindow: Sendable {
    private let skip: Int
    /// The position after the last row of the result.
    private let end: Int
    private let maximumSpare: Int
    private var rows: KeyedList<Row>
    /// Whether there are no further matching rows.
    private var isComplete: Bool

    /// Reads the first rows of a query, and the number of matching rows if the query requests it.
    static func read(
        _ query: TableQuery, _ plan: QueryPlan, in reader: some StoreReader
    ) throws -> (window: ResultWindow, matchingCount: Int?) {
        let end = query.limit.map { query.skip.addingReportingOverflow($0) }
            .flatMap { $0.overflow ? nil : $0.partialValue }
        let spare = query.limit.map { min(max($0, 16), 256) } ?? 0
        let readLimit = end.map { $0.addingReportingOverflow(spare) }.flatMap { $0.overflow ? nil : $0.partialValue }
        var whole = query
        (whole.skip, whole.limit, whole.selection) = (0, readLimit, nil)
        var entries: [KeyedList<Row>.Entry] = []
        let count = try reader.scan(whole) { row in
            entries.append(plan.entry(of: row))
            return .next
        }
        let window = ResultWindow(
            skip: query.skip, end: end ?? .max, maximumSpare: 2 * spare,
            rows: KeyedList(order: plan.order, sorted: entries), isComplete: entries.count < readLimit ?? .max)
        return (window, count)
    }

    var result: KeyedList<Row> {
        if skip == 0, rows.count <= end { return rows }
        let entries = (skip..<max(skip, min(end, rows.count))).map { rows[$0] }
        return KeyedList(order: rows.order, sorted: entries)
    }

    /// Applies the changes of matching rows.
    ///
    /// - Parameters:
    ///   - delta: Receives the changes of the result.
    ///   - refill: Reads the window if it has too few rows left.
    mutating func apply(
        _ changes: [(old: RowOrder.Key?, new: KeyedList<Row>.Entry?)], to delta: inout ResultDelta,
        refill: () throws -> ResultWindow
    ) throws {
        let before = self
        for change in changes { if let key = change.old { rows.remove(key) } }
        for change in changes {
            guard let new = change.new else { continue }
            // Behind the last known row, other rows may come first.
            if isComplete || rows.insertionPosition(of: new.key) < rows.count { rows.insert(new) }
        }
        if !isComplete, rows.count < end { self = try refill() }
        if end < .max - maximumSpare, rows.count > end + maximumSpare {
            rows.truncate(to: end + maximumSpare / 2)
            isComplete = false
        }
        for change in changes {
            let old = change.old.flatMap { before.holds($0) ? $0 : nil }
            let new = change.new.flatMap { holds($0.key) ? $0 : nil }
            delta.add(old: old, new: new)
        }
        addShiftedRows(changes, before, to: &delta)
    }

    /// Adds the unchanged rows that entered or left the result because rows before them changed. Each change moves a
    /// row by one position, so they are near the ends of the result.
    private func addShiftedRows(
        _ changes: [(old: RowOrder.Key?, new: KeyedList<Row>.Entry?)], _ before: ResultWindow,
        to delta: inout ResultDelta
    ) {
        let changed = Set(changes.compactMap { ($0.old ?? $0.new?.key)?.identity })
        for entry in before.rowsNearEnds(changes.count) where !changed.contains(entry.key.identity) {
            if !holds(entry.key) { delta.add(old: entry.key, new: nil) }
        }
        for entry in rowsNearEnds(changes.count) where !changed.contains(entry.key.identity) {
            if !before.holds(entry.key) { delta.add(old: nil, new: entry) }
        }
    }

    /// Returns up to `count` rows at each end of the result.
    private func rowsNearEnds(_ count: Int) -> [KeyedList<Row>.Entry] {
        let last = min(end, rows.count)
        guard skip < last else { return [] }
        let head = skip..<min(last, skip + count)
        let tail = max(head.upperBound, last - count)..<last
        return head.map { rows[$0] } + tail.map { rows[$0] }
    }

    /// Returns whether a row is in the result.
    private func holds(_ key: RowOrder.Key) -> Bool {
        rows.position(of: key).map { $0 >= skip && $0 < end } ?? false
    }
}
