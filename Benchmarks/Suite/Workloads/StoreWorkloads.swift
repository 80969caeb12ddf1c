#if Commands
internal import TidelineStore
internal import TidelineSupport

/// The workloads for any database, with one number of rows.
///
/// Bulk work covers all rows. The number of point operations does not depend on the number of rows, so that their cost
/// is comparable across sizes. The seed determines all random choices, equally for all subjects.
struct StoreWorkloads: Sendable {
    let settings: BenchmarkSettings
    let rows: Int
    /// The rows of the table without an index.
    let source: RowSource
    /// The same rows, in the table with an index.
    let indexed: RowSource

    private let divisor: Int

    /// Creates the workloads for a number of rows.
    /// - Parameter divisor: Divides the number of point operations, for tests.
    init(_ settings: BenchmarkSettings, rows: Int, divisor: Int = 1) {
        self.settings = settings
        self.divisor = divisor
        self.rows = max(rows, 1)
        source = settings.source(rows: rows)
        indexed = settings.source(rows: rows, isIndexed: true)
    }

    /// The maximum number of rows whose work is in memory at the same time.
    static let maxRows = 100_000

    /// The number of rows that point reads read.
    var reads: Int { operations(20_000) }

    /// Returns the number of point operations after division.
    func operations(_ count: Int) -> Int { max(count / divisor, 1) }

    /// All workloads, in the order of the report.
    var all: [Workload] { writing + reading + queries + deleting + opening + parallel + mixes + live }

    /// Returns at most ``maxRows`` rows, spread evenly over the table.
    func spread(_ count: Int) -> [Int] {
        let count = min(max(count, 1), rows, Self.maxRows)
        return (0..<count).map { $0 * rows / count }
    }

    /// Returns the identifiers of random rows; each `pick` gives others.
    func ids(_ count: Int, pick: UInt64) -> [RowID] {
        var random = random(pick)
        return (0..<count).map { _ in source.id(Int.random(in: 0..<rows, using: &random)) }
    }

    /// Returns a random generator for one aspect of the workloads.
    func random(_ aspect: UInt64) -> SplitMix64 {
        var start = SplitMix64(seed: settings.seed)
        return SplitMix64(seed: start.next() ^ aspect &* 0xD6E8_FEB8_6659_FD93)
    }

    /// All rows in parts that limit memory use.
    var parts: [Range<Int>] { (0..<rows).parts(of: max(Self.maxRows / settings.batch, 1) * settings.batch) }

    /// Returns the steps that write all rows of a source.
    func writingAll(of source: RowSource, asRows: Bool = false) -> [Workload.WorkMaker] {
        parts.map { part in
            {
                let batches = try source.batches(part, of: settings.batch, asRows: asRows)
                return [asRows ? .upsertRows(batches) : .upsert(batches)]
            }
        }
    }

    /// Restores the original rows.
    func writing(_ indexes: [Int], of source: RowSource) throws -> Work {
        .upsert(try source.batches(indexes, of: max(settings.batch, 1000)))
    }

    /// Removes added rows.
    func deleting(_ indexes: some Sequence<Int>) -> Work { .delete([indexes.map { source.id($0) }]) }
}
#endif
