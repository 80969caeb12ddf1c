internal import Synchronization
internal import TidelineStore

/// A table as it is stored: its definition, where its rows and indexes lie, and what follows from that for every call.
final class StoredTable: Sendable {
    let definition: StoredDefinition
    /// The columns of a row that is read in full.
    let shape: RowShape
    let evaluator: Evaluator
    let ids: IDRule
    let indexes: [StoredIndex]
    /// The columns of the rows as each layout packed them.
    let layouts: [Layout]

    /// The columns that are stored: those of ``shape``, then those that the definition no longer names.
    let storedShape: RowShape
    let hasRetiredColumns: Bool
    /// What is demanded of a batch of the table's own columns.
    let rules: ColumnRules
    private let nameBytes: [UInt8]
    /// What was found out about the shape of the last batch: most batches have that of the one before.
    private let lastBatch = Mutex<BatchRules?>(nil)

    init(_ definition: StoredDefinition) {
        let schema = definition.schema
        let shape = schema.makeShape()
        let columns = shape.columns + definition.retired
        self.definition = definition
        nameBytes = Array(schema.name.utf8)
        self.shape = shape
        storedShape =
            definition.retired.isEmpty
            ? shape : RowShape(table: schema.name, idType: schema.idType, columns: columns)
        allRows = definition.rows.range
        hasRetiredColumns = !definition.retired.isEmpty
        rules = ColumnRules(of: shape, in: shape, stored: storedShape)
        evaluator = Evaluator(schema: schema)
        ids = IDRule(schema)
        indexes = definition.indexes.map { StoredIndex($0, of: shape) }
        layouts = definition.layouts.map { Layout($0, of: schema, shape: shape, stored: columns) }
        currentLayout = layouts.count - 1
        inShapeLayout = layouts.last?.isCurrent == true ? currentLayout : -1
        wholeRows = inShapeLayout < 0 ? nil : WholeRows(of: shape, layout: UInt32(inShapeLayout))
    }

    var schema: TableSchema { definition.schema }
    var name: String { definition.schema.name }

    /// Whether that is the table's name, byte for byte: strings compare by canonical equivalence.
    func isNamed(_ other: String) -> Bool {
        let isSame = other.utf8.withContiguousStorageIfAvailable { other in
            nameBytes.withUnsafeBytes { $0.compare(UnsafeRawBufferPointer(other)) == 0 }
        }
        return isSame ?? nameBytes.elementsEqual(other.utf8)
    }

    var rows: KeySpace { definition.rows }
    /// The keys of all rows.
    let allRows: KeyRange

    /// What the table demands of batches of a shape.
    func rules(for batch: RowShape) -> BatchRules {
        if let known = lastBatch.withLock({ $0 }), known.shape === batch { return known }
        let isWhole = batch.hasSameColumns(as: shape)
        let found = BatchRules(
            shape: batch, isWhole: isWhole,
            columns: isWhole ? rules : ColumnRules(of: batch, in: shape, stored: storedShape))
        lastBatch.withLock { $0 = found }
        return found
    }

    /// The number of the layout that rows are written with, which stands in their headers.
    let currentLayout: Int
    /// The same where its rows are rows of ``shape`` as they are, and -1 where they are not: most rows have it, and need
    /// not look their layout up.
    let inShapeLayout: Int
    /// The narrow rows of that layout, nil where there is none.
    let wholeRows: WholeRows?
}

/// The columns with which rows were packed, from one definition of the table until the next.
struct Layout: Sendable {
    /// All columns: those that the definition named, then those it no longer named.
    let shape: RowShape
    /// Where each column of the table's stored shape lies in this layout, nil when the layout lacks it.
    let positions: [Int?]
    /// Whether a row of this layout is a row of the table's shape as it is.
    let isCurrent: Bool

    init(_ columns: [ColumnSchema], of schema: TableSchema, shape target: RowShape, stored: [ColumnSchema]) {
        let shape = RowShape(table: schema.name, idType: schema.idType, columns: columns)
        self.shape = shape
        positions = stored.map { shape.index(of: $0.name) }
        isCurrent = columns.count == target.count && zip(columns, target.columns).allSatisfy { $0.isStoredAs($1) }
    }
}

/// An index as it is stored.
struct StoredIndex: Sendable {
    let space: KeySpace
    /// The columns as the definition names them.
    let columns: [String]
    /// Their positions in the table's shape; nil for `id`.
    let positions: [Int?]
    /// Their types; that of `id` as a column's.
    let types: [ColumnType]

    init(_ definition: StoredDefinition.Index, of shape: RowShape) {
        space = definition.space
        columns = definition.columns
        positions = definition.columns.map { shape.index(of: $0) }
        types = positions.map { position in
            position.map { shape.columns[$0].type } ?? (shape.idType == .int ? .int : .string)
        }
    }
}

/// What is written of a table into the store, as JSON.
struct StoredDefinition: Codable, Sendable, Hashable {
    /// An index and the space of its keys.
    struct Index: Codable, Sendable, Hashable {
        var columns: [String]
        var space: KeySpace
    }

    var schema: TableSchema
    /// Columns that are stored and that the definition no longer names.
    var retired: [ColumnSchema]
    /// The columns of each layout, by its number; the last is the one in use.
    var layouts: [[ColumnSchema]]
    /// The space of the rows.
    var rows: KeySpace
    var indexes: [Index]
}
