/// What a run measures, and how.
public struct BenchmarkSettings: Sendable, Hashable, Codable {
    /// The numbers of rows in the table; every workload runs for each.
    public var rows: [Int]
    /// How many columns the table has beside the id; see ``BenchmarkTable``.
    public var columns: Int
    /// How many bytes the column `text` has, and each beyond the first ten.
    public var valueSize: Int
    /// In which order ids come.
    public var keyOrder: KeyOrder
    /// How many rows a transaction of a bulk workload writes.
    public var batch: Int
    /// The most threads that read at once.
    public var readers: Int
    /// What everything random begins with.
    public var seed: UInt64
    /// How often each workload is measured for each subject.
    public var repetitions: Int
    /// How often it is done before that, untimed.
    public var warmUp: Int
    /// Whether all rows are read and compared after every workload that changes some.
    public var verifiesAll: Bool
    /// Whether only the workloads for a first impression run.
    public var isQuick: Bool

    /// Settings; those not named have their defaults.
    public init(
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

    /// The source of the rows of a run of so many.
    public func source(rows: Int, isIndexed: Bool = false) -> RowSource {
        RowSource(
            table: BenchmarkTable(columns: columns, isIndexed: isIndexed), valueSize: valueSize, keyOrder: keyOrder,
            seed: seed, lists: rows / 1000)
    }
}
