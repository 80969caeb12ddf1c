/// A row borrowed from the buffer that contains it, valid only inside the closure that it is passed to.
///
/// Reading a value takes two loads and, for text, a copy into a `String`; ``withBytes(at:_:)`` avoids the copy.
/// ``owned()`` creates a ``Row`` that can be kept. Positions are those of ``shape``; resolve a name once per query with
/// ``RowShape/index(of:)`` or ``Column/resolved(in:)``.
///
/// Unsafe pointers: the view points into a buffer that its creator keeps valid and unchanged during the closure. A
/// noncopyable type passed by borrowing cannot be stored, so the view cannot outlive the closure.
@safe
public struct RowView: ~Copyable {
    /// The columns.
    public let shape: RowShape
    /// The bytes of the identifier, valid until the view points elsewhere.
    @usableFromInline package internal(set) var packedID: UnsafeRawBufferPointer
    /// The row in the packed format, valid until the view points elsewhere.
    ///
    /// Adapters of this package use it to read the row's values in sequence.
    @usableFromInline package internal(set) var packed: UnsafeRawBufferPointer
    @usableFromInline var header = RowHeader()

    /// Creates a view that points at no row. Call ``point(atID:validating:)`` before any other use.
    package init(shape: RowShape) {
        self.shape = shape
        unsafe packedID = UnsafeRawBufferPointer(start: nil, count: 0)
        unsafe packed = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Points the view at a packed row and the bytes of its identifier, checking every length and offset.
    ///
    /// A row with fewer columns than the shape was written before the last columns were added, which are absent.
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt`` if the bytes are not a valid row of this shape.
    package mutating func point(
        atID id: UnsafeRawBufferPointer, validating bytes: UnsafeRawBufferPointer
    ) throws(StoreError) {
        guard id.count == 8 || shape.idType == .string, let header = unsafe RowHeader(of: bytes),
            unsafe RowView.isValid(bytes, header, shape: shape)
        else { throw StoreError(.corrupt, "a stored row is damaged", table: shape.table) }
        unsafe packedID = id
        unsafe packed = bytes
        self.header = header
    }

    /// Points the view at a row that this process validated or packed.
    package mutating func point(atID id: UnsafeRawBufferPointer, trusting bytes: UnsafeRawBufferPointer) {
        unsafe packedID = id
        unsafe packed = bytes
        header = unsafe RowHeader(trusting: bytes)
    }

    // MARK: Id

    /// The identifier, which is the primary key.
    public var id: RowID {
        switch shape.idType {
        case .string: unsafe .string(String(decoding: packedID, as: UTF8.self))
        case .int: unsafe .int(packedID.word)
        }
    }

    /// The identifier as text; an integer in decimal.
    public var idText: String { id.text }

    /// Calls `body` with the bytes of the identifier: UTF-8, or eight little-endian bytes for an integer.
    @inlinable
    public func withIDBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T { try unsafe body(packedID) }

    /// Whether the identifier has a length that every store accepts.
    ///
    /// A string must have 1 to 255 characters, counted as Unicode scalars. An integer is always valid.
    package var hasUsableID: Bool {
        guard shape.idType == .string else { return true }
        return unsafe !packedID.isEmpty && (packedID.count <= 255 || packedID.count { $0 & 0xC0 != 0x80 } <= 255)
    }

    // MARK: Columns

    /// Returns the tag of the value at a position, or absent if the row was stored with fewer columns.
    @inlinable
    public func tag(at index: Int) -> RowTag { RowTag(rawValue: rawTag(at: index)) ?? .absent }

    /// Returns the raw value of the tag, which is cheaper to compare than the tag.
    @inlinable
    func rawTag(at index: Int) -> UInt8 {
        guard index < header.columns, let base = unsafe packed.baseAddress else {
            precondition(index < shape.count, "no column \(index) in a row of \(shape.count)")
            return RowTag.absent.rawValue
        }
        return unsafe header.tag(of: index, in: base)
    }

    /// Returns the bytes of the value at a position, valid until the view points elsewhere.
    ///
    /// Adapters of this package use it to bind values without copying.
    @inlinable
    package func bytes(at index: Int) -> UnsafeRawBufferPointer {
        guard index < header.columns, let base = unsafe packed.baseAddress else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return unsafe header.value(of: index, in: base)
    }

    /// Returns the eight bytes of the number at a position.
    @inlinable
    func word(at index: Int) -> Int64 { unsafe bytes(at: index).word }

    /// Calls `body` with the bytes of the string, bytes, or JSON at a position, without copying.
    ///
    /// - Returns: The result of `body`, or `nil` if the value is of another type, null, or absent.
    @inlinable
    public func withBytes<T>(at index: Int, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T? {
        switch rawTag(at: index) {
        case RowTag.string.rawValue, RowTag.bytes.rawValue, RowTag.json.rawValue: unsafe try body(bytes(at: index))
        default: nil
        }
    }

    /// Returns whether the value at a position is null or absent.
    @inlinable
    public func isNull(at index: Int) -> Bool {
        let tag = rawTag(at: index)
        return tag == RowTag.null.rawValue || tag == RowTag.absent.rawValue
    }

    /// Returns the value at a position, or `nil` if the column is absent.
    public func value(at index: Int) -> Value? {
        unsafe Value(tag(at: index), bytes(at: index))
    }

    /// Returns the integer at a position, or `nil` if the value is not an int.
    @inlinable
    public func int(at index: Int) -> Int64? {
        rawTag(at: index) == RowTag.int.rawValue ? word(at: index) : nil
    }

    /// Returns the double at a position, or `nil` if the value is not a double.
    @inlinable
    public func double(at index: Int) -> Double? {
        rawTag(at: index) == RowTag.double.rawValue ? Double(bitPattern: UInt64(bitPattern: word(at: index))) : nil
    }

    /// Returns the Boolean value at a position, or `nil` if the value is not a bool.
    @inlinable
    public func bool(at index: Int) -> Bool? {
        switch rawTag(at: index) {
        case RowTag.true.rawValue: true
        case RowTag.false.rawValue: false
        default: nil
        }
    }

    /// Returns the text at a position, or `nil` if the value is not a string.
    @inlinable
    @inline(__always)
    public func string(at index: Int) -> String? {
        unsafe rawTag(at: index) == RowTag.string.rawValue ? String(decoding: bytes(at: index), as: UTF8.self) : nil
    }

    /// Returns the instant at a position, or `nil` if the value is not a timestamp.
    @inlinable
    public func timestamp(at index: Int) -> Timestamp? {
        rawTag(at: index) == RowTag.timestamp.rawValue
            ? Timestamp(clampingTicks: word(at: index)) : nil
    }

    /// The value of a column, including `id`, or `nil` if the column does not exist or is absent.
    public subscript(name: String) -> Value? {
        if let index = shape.index(of: name) { return value(at: index) }
        return name == "id" ? id.value : nil
    }

    /// The value of a typed column, or `nil` if it is null, absent, or of another type.
    public subscript<T: ColumnValue>(column: Column<T>) -> T? {
        self[column.name].flatMap { T(columnValue: $0) }
    }

    /// The value of a column resolved for this view's shape, or `nil` if it is null, absent, or of another type.
    @inlinable
    public subscript<T: ColumnValue>(column: ResolvedColumn<T>) -> T? { T.readColumn(self, at: column.index) }

    /// Returns a copy of the row that can be kept.
    public func owned() -> Row { unsafe Row(packed: id, shape: shape, bytes: Array(packed)) }

    /// Calls `body` with the packed row, without its identifier.
    ///
    /// Key-value stores write these bytes unchanged and read them back with ``point(atID:validating:)``.
    @inlinable
    package func withPackedBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        try unsafe body(packed)
    }
}
