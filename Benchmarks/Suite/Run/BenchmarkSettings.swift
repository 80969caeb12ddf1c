#if Commands
/// The settings of a run.
package struct BenchmarkSettings: Sendable, Hashable, Codable {
    /// The numbers of rows in the table; every workload runs with each.
    package var rows = [100_000]
    /// The number of columns besides the identifier; see ``BenchmarkTable``.
    package var columns = BenchmarkTable.leastColumns
    /// The size in bytes of the column `text` and of each column after the first ten.
    package var valueSize = 32
    /// The order of the identifiers of new rows.
    package var keyOrder = KeyOrder.random
    /// The number of rows that a transaction of a bulk workload writes.
    package var batch = 1000
    /// The maximum number of concurrent readers.
    package var readers = 8
    /// The seed of all random data and choices.
    package var seed: UInt64 = 1
    /// The number of measured iterations of each workload by each subject.
    package var repetitions = 5
    /// The number of iterations before them that are not measured.
    package var warmUp = 1
    /// Whether to read and compare all rows after every workload that changes some.
    package var verifiesAll = false
    /// Whether to run the quick workloads only.
    package var isQuick = false

    /// Returns the settings of a quick run.
    package static func quick(rows: Int) -> BenchmarkSettings { BenchmarkSettings(rows: [rows], isQuick: true) }

    /// Returns the source of a run's rows.
    package func source(rows: Int, isIndexed: Bool = false) -> RowSource {
        RowSource(
            table: BenchmarkTable(columns: columns, isIndexed: isIndexed), valueSize: valueSize, keyOrder: keyOrder,
            seed: seed, lists: rows / 1000)
    }
}
#endif
