internal import TidelineStore
internal import TidelineSupport

/// Makes the workloads that any database does, for one number of rows.
///
/// Bulk work is on all rows. Point operations are as many for a hundred rows as for ten million, so that what one costs can
/// be compared over sizes. What chance decides is decided by the seed, alike for all who do the work.
struct StoreWorkloads: Sendable {
    let settings: BenchmarkSettings
    let rows: Int
    /// The rows of the table without an index.
    let source: RowSource
    /// The same rows, of the table with one.
    let indexed: RowSource

    private let divisor: Int

    /// The workloads for so many rows.
    /// - Parameter divisor: By how much fewer the point operations are than in a run, for tests.
    init(_ settings: BenchmarkSettings, rows: Int, divisor: Int = 1) {
        self.settings = settings
        self.divisor = divisor
        self.rows = max(rows, 1)
        source = settings.source(rows: rows)
        indexed = settings.source(rows: rows, isIndexed: true)
    }

    /// The most rows whose work is made at once.
    static let most = 100_000

    /// How many rows point reads read.
    var reads: Int { operations(20_000) }

    /// How many there are of point operations of which a run has so many.
    func operations(_ count: Int) -> Int { max(count / divisor, 1) }

    /// All of them, in the order of the report.
    var all: [Workload] { writing + reading + queries + deleting + opening + parallel + mixes }

    /// The rows of a part of the table, at most ``most``, spread evenly over it.
    func spread(_ count: Int) -> [Int] {
        let count = min(max(count, 1), rows, Self.most)
        return (0..<count).map { $0 * rows / count }
    }

    /// Ids of rows that are there, each picked at random; another `pick` picks others.
    func ids(_ count: Int, pick: UInt64) -> [RowID] {
        var random = random(pick)
        return (0..<count).map { _ in source.id(Int.random(in: 0..<rows, using: &random)) }
    }

    /// The chance of one thing.
    func random(_ thing: UInt64) -> SplitMix64 {
        var start = SplitMix64(seed: settings.seed)
        return SplitMix64(seed: start.next() ^ thing &* 0xD6E8_FEB8_6659_FD93)
    }

    /// Writes all rows of a source, as many at a time as memory has room for.
    func writingAll(of source: RowSource, asRows: Bool = false) -> [Workload.WorkMaker] {
        let batch = settings.batch
        let size = max(Self.most / batch, 1) * batch
        return stride(from: 0, to: rows, by: size).map { start in
            {
                let batches = try source.batches(start..<min(start + size, rows), of: batch, asRows: asRows)
                return [asRows ? .upsertRows(batches) : .upsert(batches)]
            }
        }
    }

    /// Writes rows as they were in the beginning.
    func writing(_ indexes: [Int], of source: RowSource) throws -> Work {
        .upsert(try source.batches(indexes, of: max(settings.batch, 1000)))
    }

    /// Removes rows that were not there in the beginning.
    func deleting(_ indexes: some Sequence<Int>) -> Work { .delete([indexes.map { source.id($0) }]) }
}
