/// The columns of a batch of rows, resolved once: names, types, and a lookup from names to positions.
///
/// All rows of a batch share a shape. ``TableSchema/makeShape()`` creates the shape of a table.
public final class RowShape: Sendable {
    /// The name of the table, or an empty string if there is none.
    public let table: String
    /// The type of the rows' identifiers.
    public let idType: TableSchema.IDType
    /// The columns, without `id`, in the order of their positions.
    public let columns: [ColumnSchema]
    /// The types of the columns, stored separately so that reading one copies no string.
    let types: [ColumnType]
    /// The valid tags and lengths for each column.
    let tagRules: [TagRule]
    /// The valid tags and lengths for several columns at once; empty if there are few columns.
    let tagBlocks: [TagBlock]
    private let keys: [NameKey]

    /// Creates a shape of at most 65,535 columns, whose names must be distinct.
    public init(table: String = "", idType: TableSchema.IDType = .string, columns: [ColumnSchema]) {
        precondition(columns.count <= Int(UInt16.max), "a row has at most 65,535 columns")
        self.table = table
        self.idType = idType
        self.columns = columns
        types = columns.map(\.type)
        tagRules = types.map(TagRule.init)
        tagBlocks = TagBlock.covering(types)
        keys = columns.map { column in
            var name = column.name
            return name.withUTF8 { unsafe NameKey(UnsafeRawBufferPointer($0)) }
        }
    }

    /// The number of columns, without `id`.
    public var count: Int { columns.count }

    /// Returns the position of the column with the given name, or `nil` if there is none. `id` has no position.
    public func index(of name: String) -> Int? { index(of: name, guess: 0) }

    /// Returns the position of the column with the given name, or `nil` if there is none.
    ///
    /// - Parameter guess: The position to try first.
    @inline(__always)
    package func index(of name: String, guess: Int) -> Int? {
        let known = unsafe name.utf8.withContiguousStorageIfAvailable {
            unsafe find(UnsafeRawBufferPointer($0), guess: guess)
        }
        if let known = known ?? nil { return known }
        var name = name
        return name.withUTF8 { unsafe index(ofUTF8: UnsafeRawBufferPointer($0), guess: guess) }
    }

    /// Returns the position of the column whose name has these UTF-8 bytes, or `nil` if there is none.
    ///
    /// - Parameter guess: The position to try first. A JSON parser passes the position after the previous one, because
    ///   servers send columns in the same order in each row.
    package func index(ofUTF8 name: UnsafeRawBufferPointer, guess: Int = 0) -> Int? {
        if let index = unsafe find(name, guess: guess) { return index }
        // A name beyond ASCII may be in another normalization form than that of the definition.
        guard unsafe name.contains(where: { $0 >= 0x80 }), let name = unsafe String(validating: name, as: UTF8.self)
        else { return nil }
        return columns.firstIndex { $0.name == name }
    }

    @inline(__always)
    private func find(_ name: UnsafeRawBufferPointer, guess: Int) -> Int? {
        let key = unsafe NameKey(name)
        return unsafe keys.withUnsafeBufferPointer { keys in
            if guess >= 0, guess < keys.count, unsafe keys[guess] == key, unsafe isLongName(at: guess, name) {
                return guess
            }
            for index in 0..<keys.count where unsafe keys[index] == key && isLongName(at: index, name) { return index }
            return nil
        }
    }

    /// Returns whether the rows of both shapes have the same columns at the same positions and the same type of
    /// identifier.
    package func hasSameColumns(as other: RowShape) -> Bool {
        self === other || (idType == other.idType && columns == other.columns)
    }

    /// Whether a column whose key matches also has the name. The key determines names of up to 16 bytes completely.
    @inline(__always)
    private func isLongName(at index: Int, _ name: UnsafeRawBufferPointer) -> Bool {
        unsafe name.count <= 16 || columns[index].name.utf8.elementsEqual(name)
    }
}

/// The length and the first and last eight bytes of a name, which distinguish nearly all names in three comparisons.
private struct NameKey {
    let first: UInt64
    let last: UInt64
    let length: Int

    @inline(__always)
    init(_ name: UnsafeRawBufferPointer) {
        length = name.count
        switch name.count {
        case 8...:
            first = unsafe name.loadUnaligned(as: UInt64.self)
            last = unsafe name.loadUnaligned(fromByteOffset: name.count - 8, as: UInt64.self)
        case 4...:
            first = unsafe UInt64(name.loadUnaligned(as: UInt32.self))
            last = unsafe UInt64(name.loadUnaligned(fromByteOffset: name.count - 4, as: UInt32.self))
        default:
            var word: UInt64 = 0
            for index in name.indices { word = unsafe word << 8 | UInt64(name[index]) }
            first = word
            last = 0
        }
    }

    @inline(__always)
    static func == (a: NameKey, b: NameKey) -> Bool { a.first == b.first && a.last == b.last && a.length == b.length }
}
