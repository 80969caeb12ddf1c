internal import TidelineStore

/// The rows of the latest millisecond that an incremental pull has read, which pages to come may bring again.
///
/// The next page starts at the greatest `updatedAt`, and a server may compare stamps by their milliseconds only. A
/// millisecond that fills pages is then read by id, all of it. What is held here is of two pages, or three.
struct LatestRows: Sendable {
    private var millisecond: Range<Timestamp>?
    private var stamps = IDTable<RowStamp>(matching: .exact)

    var isEmpty: Bool { stamps.isEmpty }

    /// Takes note of a page in the order of `updatedAt`.
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
            // In ascending order they are the last.
            if !isLatest, page.summary.isAscending { break }
        }
    }

    /// Whether a row was read before in the state in which it comes now.
    func contains(_ view: borrowing RowView, _ columns: StampColumns) -> Bool {
        guard let millisecond, let updatedAt = columns.updatedAt(of: view), millisecond.contains(updatedAt),
            let stamp = stamps[view.packedID]
        else { return false }
        return columns.has(stamp, view)
    }
}
