/// The columns of a batch of rows, resolved once: names, types, and the way from a name to a position.
///
/// A shape is shared by all rows of a batch. ``TableSchema/makeShape()`` makes the shape of a table.
public final class RowShape: Sendable {
    /// The table the rows belong to, for messages; empty when there is none.
    public let table: String
    /// The type of the rows' ids.
    public let idType: IDType
    /// The columns, without `id`, in the order of their positions.
    public let columns: [ColumnSchema]
    /// The columns' types, apart from their names so that reading one copies no string.
    let types: [ColumnType]
    /// What a stored value of each column may look like.
    let tagRules: [TagRule]
    /// The same for several columns at once; empty where there are few.
    let tagBlocks: [TagBlock]
    private let keys: [NameKey]

    /// A shape of these columns. At most 65,535; the names are taken to be distinct.
    public init(table: String = "", idType: IDType = .string, columns: [ColumnSchema]) {
        precondition(columns.count <= Int(UInt16.max), "a row has at most 65,535 columns")
        self.table = table
        self.idType = idType
        self.columns = columns
        types = columns.map(\.type)
        tagRules = types.map(TagRule.init)
        tagBlocks = TagBlock.covering(types)
        keys = columns.map { column in
            var name = column.name
            return name.withUTF8 { NameKey(UnsafeRawBufferPointer($0)) }
        }
    }

    /// The number of columns, without `id`.
    public var count: Int { columns.count }

    /// The position of the column of that name, or nil; `id` has none.
    public func index(of name: String) -> Int? {
        var name = name
        return name.withUTF8 { index(ofUTF8: UnsafeRawBufferPointer($0)) }
    }

    /// The position of the column whose name has these UTF-8 bytes, or nil.
    ///
    /// - Parameter guess: The position tried first. A reader of JSON passes the position after the last one, since
    ///   servers send columns in the same order row after row.
    public func index(ofUTF8 name: UnsafeRawBufferPointer, guess: Int = 0) -> Int? {
        let key = NameKey(name)
        if keys.indices.contains(guess), matches(guess, key, name) { return guess }
        for index in keys.indices where matches(index, key, name) { return index }
        return nil
    }

    /// Whether the rows of both shapes have the same columns at the same positions, and ids of one type.
    public func hasSameColumns(as other: RowShape) -> Bool {
        self === other || (idType == other.idType && columns == other.columns)
    }

    private func matches(_ index: Int, _ key: NameKey, _ name: UnsafeRawBufferPointer) -> Bool {
        guard keys[index] == key else { return false }
        // Length, first and last eight bytes say all about a name of up to 16 bytes.
        return name.count <= 16 || columns[index].name.utf8.elementsEqual(name)
    }
}

/// Length, first and last eight bytes of a name: enough to tell nearly all names apart with three comparisons.
private struct NameKey: Equatable {
    let length: Int
    let first: UInt64
    let last: UInt64

    init(_ name: UnsafeRawBufferPointer) {
        length = name.count
        if name.count >= 8 {
            first = name.loadUnaligned(as: UInt64.self)
            last = name.loadUnaligned(fromByteOffset: name.count - 8, as: UInt64.self)
        } else {
            var word: UInt64 = 0
            for byte in name { word = word << 8 | UInt64(byte) }
            first = word
            last = 0
        }
    }
}
