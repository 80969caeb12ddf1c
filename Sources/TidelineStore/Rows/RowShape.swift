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
    public func index(of name: String) -> Int? { index(of: name, guess: 0) }

    @inline(__always)
    func index(of name: String, guess: Int) -> Int? {
        let known = name.utf8.withContiguousStorageIfAvailable {
            find(UnsafeRawBufferPointer($0), guess: guess)
        }
        if let known { return known }
        var name = name
        return name.withUTF8 { index(ofUTF8: UnsafeRawBufferPointer($0), guess: guess) }
    }

    /// The position of the column whose name has these UTF-8 bytes, or nil.
    ///
    /// - Parameter guess: The position tried first. A reader of JSON passes the position after the last one, since
    ///   servers send columns in the same order row after row.
    public func index(ofUTF8 name: UnsafeRawBufferPointer, guess: Int = 0) -> Int? { find(name, guess: guess) }

    @inline(__always)
    private func find(_ name: UnsafeRawBufferPointer, guess: Int) -> Int? {
        let key = NameKey(name)
        return keys.withUnsafeBufferPointer { keys in
            if guess >= 0, guess < keys.count, keys[guess] == key, isLongName(at: guess, name) { return guess }
            for index in 0..<keys.count where keys[index] == key && isLongName(at: index, name) { return index }
            return nil
        }
    }

    /// Whether the rows of both shapes have the same columns at the same positions, and ids of one type.
    public func hasSameColumns(as other: RowShape) -> Bool {
        self === other || (idType == other.idType && columns == other.columns)
    }

    /// Whether a column whose key is that of a name has the name. Length, first and last eight bytes say all about one of
    /// up to 16 bytes.
    @inline(__always)
    private func isLongName(at index: Int, _ name: UnsafeRawBufferPointer) -> Bool {
        name.count <= 16 || columns[index].name.utf8.elementsEqual(name)
    }
}

/// Length, first and last eight bytes of a name: enough to tell nearly all names apart with three comparisons.
private struct NameKey {
    let first: UInt64
    let last: UInt64
    let length: Int

    @inline(__always)
    init(_ name: UnsafeRawBufferPointer) {
        length = name.count
        switch name.count {
        case 8...:
            first = name.loadUnaligned(as: UInt64.self)
            last = name.loadUnaligned(fromByteOffset: name.count - 8, as: UInt64.self)
        case 4...:
            first = UInt64(name.loadUnaligned(as: UInt32.self))
            last = UInt64(name.loadUnaligned(fromByteOffset: name.count - 4, as: UInt32.self))
        default:
            var word: UInt64 = 0
            for byte in name { word = word << 8 | UInt64(byte) }
            first = word
            last = 0
        }
    }

    @inline(__always)
    static func == (a: NameKey, b: NameKey) -> Bool { a.first == b.first && a.last == b.last && a.length == b.length }
}
