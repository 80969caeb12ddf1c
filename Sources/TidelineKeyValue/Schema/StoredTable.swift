internal import Synchronization
internal import TidelineStore

/// A stored table: its definition, the locations of its rows and indexes, and data derived from them for every call.
final class StoredTable: Sendable {
    let definition: StoredDefinition
    /// The columns of a complete row.
    let shape: RowShape
    let evaluator: Evaluator
    let ids: IDRule
    let indexes: [StoredIndex]
    /// The columns of the rows as packed by each layout.
    let layouts: [Layout]

    /// The stored columns: those of ``shape``, then those no longer defined.
    let storedShape: RowShape
    let hasRetiredColumns: Bool
    /// The rules for a batch with the table's own columns.
    private let rules: BatchRules
    /// The shape of the last batch, which most batches share with the previous one, and the rules for it.
    private let lastBatch = Mutex<(shape: RowShape, rules: BatchRules)?>(nil)

    init(_ definition: StoredDefinition) {
        let schema = definition.schema
        let shape = schema.makeShape()
        let columns = shape.columns + definition.retired
        self.definition = definition
        name = schema.name
        self.shape = shape
        storedShape =
            definition.retired.isEmpty
            ? shape : RowShape(table: schema.name, idType: schema.idType, columns: columns)
        allRows = definition.rows.range
        hasRetiredColumns = !definition.retired.isEmpty
        rules = BatchRules(of: shape, in: shape, stored: storedShape)
        evaluator = Evaluator(schema: schema)
        ids = IDRule(schema)
        indexes = definition.indexes.map { StoredIndex($0, of: shape) }
        layouts = definition.layouts.map { Layout($0, of: schema, shape: shape, stored: columns) }
        currentLayout = definition.currentLayout
        inShapeLayout = layouts[currentLayout].isCurrent ? currentLayout : -1
        wholeRows = inShapeLayout < 0 ? nil : RowLayout(of: shape, layout: UInt32(inShapeLayout))
    }

    var schema: TableSchema { definition.schema }
    let name: String

    var rows: KeySpace { definition.rows }
    /// The range of the keys of all rows.
    let allRows: KeyRange

    /// Returns the rules for batches of a shape.
    func rules(for batch: RowShape) -> BatchRules {
        if let known = lastBatch.withLock({ $0 }), known.shape === batch { return known.rules }
        let found = batch.hasSameColumns(as: shape) ? rules : BatchRules(of: batch, in: shape, stored: storedShape)
        lastBatch.withLock { $0 = (batch, found) }
        return found
    }

    /// The number of the layout of newly written rows, which is stored in their headers.
    let currentLayout: Int
    /// The number of the current layout if its rows match ``shape`` exactly, or -1.
    ///
    /// Most rows have this layout and therefore need no layout lookup.
    let inShapeLayout: Int
    /// The narrow rows of that layout, or `nil` if there is no such layout.
    let wholeRows: RowLayout?
}

/// The columns with which rows were packed between two definitions of the table.
struct Layout: Sendable {
    /// All columns: those that the definition contained, then those no longer defined.
    let shape: RowShape
    /// The position of each column of the table's stored shape in this layout, or `nil` if the layout lacks it.
    let positions: [Int?]
    /// Whether a row of this layout matches the table's shape exactly.
    let isCurrent: Bool

    init(_ columns: [ColumnSchema], of schema: TableSchema, shape target: RowShape, stored: [ColumnSchema]) {
        let shape = RowShape(table: schema.name, idType: schema.idType, columns: columns)
        self.shape = shape
        positions = stored.map { shape.index(of: $0.name) }
        isCurrent = columns.count == target.count && zip(columns, target.columns).allSatisfy { $0.isStoredAs($1) }
    }
}

struct StoredIndex: Sendable {
    let space: KeySpace
    /// The columns as the definition names them.
    let columns: [String]
    /// The positions of the columns in the table's shape, with `nil` for `id`.
    let positions: [Int?]
    /// The types of the columns, including that of `id`.
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

/// The definition of a table as stored in JSON.
struct StoredDefinition: Codable, Sendable, Hashable {
    /// An index and the space of its keys.
    struct Index: Codable, Sendable, Hashable {
        var columns: [String]
        var space: KeySpace
    }

    var schema: TableSchema
    /// The columns that are stored but no longer defined.
    var retired: [ColumnSchema]
    /// The columns of each layout, by its number.
    var layouts: [[ColumnSchema]]
    /// The number of the current layout, or `nil` if it is the last one. Requires ``StoreFormat/reusedLayouts``.
    var layout: Int?
    /// The space of the rows.
    var rows: KeySpace
    var indexes: [Index]
}
