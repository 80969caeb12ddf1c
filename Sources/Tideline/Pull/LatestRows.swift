internal import TidelineStore

/// The rows of the latest millisecond that an incremental pull has read, which later pages may return again.
///
/// The next page starts at the greatest `updatedAt`, and a server may compare timestamps only to the millisecond. A
/// millisecond that fills whole pages is then read completely, by identifier. Therefore this table contains rows of at
/// most two or three pages.
struct LatestRows: Sendable {
    private var millisecond: Range<Timestamp>?
    private var stamps = IDTable<RowStamp>(matching: .exact)

    var isEmpty: Bool { stamps.isEmpty }

    /// Records the latest rows of a page in the order of `updatedAt`.
    mutating func note(_ page: PulledPage) {
        guard let newest = page.summary.newest else { return }
        let start = newest.flooredToMillisecond
        if millisecond?.lowerBound != start {
            let end = start.advanced(byTicks: Timestamp.ticksPerMillisecond)
            millisecond = start..<max(start, end)
            stamps = IDTable(matching: .exact)
        }
        for index in (0..<page.rows.count).reversed() {
            let isLatest = page.rows.withRow(at: index) { view in
                guard let updatedAt = page.columns.updatedAt(of: view), updatedAt >= start else { return false }
                if let stamp = page.columns.stamp(of: view) { stamps.insert(stamp, for: view.packedID) }
                return true
            }
            // In ascending order, the latest rows are at the end.
            if !isLatest, page.summary.isAscending { break }
        }
    }

    /// Returns whether a row was already read in the same state.
    func contains(_ view: borrowing RowView, _ columns: StampColumns) -> Bool {
        guard let millisecond, let updatedAt = columns.updatedAt(of: view), millisecond.contains(updatedAt),
            let stamp = stamps[view.packedID]
        else { return false }
        return columns.has(stamp, view)
    }
}
