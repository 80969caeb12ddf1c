public import TidelineStore

/// Whole rows that are written in one transaction, made before the time is taken.
public final class RowBatch: Sendable {
    /// The rows, packed.
    public let packed: PackedRows
    /// Which rows of their ``RowSource`` they are, one for each; empty where they are of none.
    public let indexes: [Int]
    /// The same as `Row` values; empty where no work needs them.
    public let rows: [Row]

    /// A batch of packed rows.
    public init(_ packed: consuming PackedRows, indexes: [Int] = [], rows: [Row] = []) {
        self.packed = packed
        self.indexes = indexes
        self.rows = rows
    }
}
