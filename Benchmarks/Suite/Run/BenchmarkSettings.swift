#if Commands
/// The settings of a run.
package struct BenchmarkSettings: Sendable, Hashable, Codable {
    /// The numbers of rows in the table; every workload runs with each.
    package var rows: [Int]
    /// The number of columns besides the identifier; see ``BenchmarkTable``.
    package var columns: Int
    /// The size in bytes of the column `text` and of each column after the first ten.
    package var valueSize: Int
    /// The order of the identifiers of new rows.
    package var keyOrder: KeyOrder
    /// The number of rows that a transaction of a bulk workload writes.
    package var batch: Int
    /// The maximum number of concurrent readers.
    package var readers: Int
    /// The seed of all random data and choices.
    package var seed: UInt64
    /// The number of measured iterations of each workload by each subject.
    package var repetitions: Int
    /// The number of iterations before them that are not measured.
    package var warmUp: Int
    /// Whether to read and compare all rows after every workload that changes some.
    package var verifiesAll: Bool
    /// Whether to run the quick workloads only.
    package var isQuick: Bool

    /// Creates settings, with defaults for all values that are not given.
    package init(
        rows: [Int] = [100_000], columns: Int = BenchmarkTable.leastColumns, valueSize: Int = 32,
        keyOrder: KeyOrder = .random, batch: Int = 1000, readers: Int = 8, seed: UInt64 = 1, repetitions: Int = 5,
        warmUp: Int = 1, verifiesAll: Bool = false, isQuick: Bool = false
    ) {
        self.rows = rows
        self.columns = columns
        self.valueSize = valueSize
        self.keyOrder = keyOrder
        self.batch = batch
        self.readers = readers
        self.seed = seed
        self.repetitions = repetitions
        self.warmUp = warmUp
        self.verifiesAll = verifiesAll
        self.isQuick = isQuick
    }

    /// Returns the source of a run's rows.
    package func source(rows: Int, isIndexed: Bool = false) -> RowSource {
        RowSource(
            table: BenchmarkTable(columns: columns, isIndexed: isIndexed), valueSize: valueSize, keyOrder: keyOrder,
            seed: seed, lists: rows / 1000)
    }
}
#endif
