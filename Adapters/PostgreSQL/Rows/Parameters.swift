internal import CPostgreSQL
internal import TidelineStore

/// A type of PostgreSQL, by the numbers that it has in every database.
enum SQLType {
    case boolean, bigint, double, text, bytea

    init(_ type: ColumnType) {
        self =
            switch type {
            case .bool: .boolean
            case .int, .timestamp: .bigint
            case .double: .double
            case .string, .json: .text
            case .bytes: .bytea
            }
    }

    init(_ type: TableSchema.IDType) { self = type == .int ? .bigint : .text }

    var oid: Oid { properties.oid }
    var arrayOID: Oid { properties.arrayOID }
    /// The name in SQL.
    var name: String { properties.name }

    private var properties: (oid: Oid, arrayOID: Oid, name: String) {
        switch self {
        case .boolean: (16, 1000, "boolean")
        case .bytea: (17, 1001, "bytea")
        case .bigint: (20, 1016, "bigint")
        case .text: (25, 1009, "text")
        case .double: (701, 1022, "double precision")
        }
    }
}

/// The values of a statement's parameters in PostgreSQL's binary format: numbers are big-endian.
struct Parameters {
    private var bytes: [UInt8] = []
    /// The place of each value, or `nil` for null.
    private var places: [Range<Int>?] = []
    private(set) var types: [Oid] = []

    var count: Int { places.count }

    var byteCount: Int { bytes.count }

    /// Appends a value of a type and returns the parameter as it is written in SQL.
    @discardableResult
    mutating func append(_ value: Value, as type: SQLType) -> String {
        let start = bytes.count
        bytes.appendValue(value)
        places.append(value.isNull ? nil : start..<bytes.count)
        return named(type.oid)
    }

    @discardableResult
    mutating func append(_ array: ArrayParameter) -> String {
        let start = bytes.count
        array.append(to: &bytes)
        places.append(start..<bytes.count)
        return named(array.type.arrayOID)
    }

    private mutating func named(_ type: Oid) -> String {
        types.append(type)
        return "$\(types.count)"
    }

    /// Removes the values from position `count` on.
    mutating func truncate(to count: Int) {
        places.removeSubrange(count...)
        types.removeSubrange(count...)
    }

    /// Calls `body` with the arrays that libpq takes.
    func withPointers<T>(
        _ body: (
            _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> T
    ) -> T {
        bytes.withUnsafeBytes { bytes in
            // An empty value needs an address, too, because null stands for a null value.
            withUnsafePointer(to: 0 as CChar) { empty in
                let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                let values = places.map { place in place.map { place in base.map { $0 + place.lowerBound } ?? empty } }
                let lengths = places.map { Int32(clamping: $0?.count ?? 0) }
                let formats = Array(repeating: 1 as Int32, count: places.count)
                return body(values, lengths, formats)
            }
        }
    }
}

/// An array of values of one type, to which the rows of a batch append theirs.
struct ArrayParameter {
    let type: SQLType
    private var elements: [UInt8] = []
    private(set) var count = 0
    private var hasNull = false

    init(_ type: SQLType) { self.type = type }

    init(_ values: some Sequence<Value>, _ type: SQLType) {
        self.type = type
        for value in values { append(value) }
    }

    mutating func append(_ value: Value) {
        value.isNull ? appendNull() : appendElement { $0.appendValue(value) }
    }

    /// Appends the value of a packed row.
    mutating func append(_ tag: RowTag, _ packed: UnsafeRawBufferPointer) {
        switch tag {
        case .absent, .null: appendNull()
        case .false, .true: appendElement { $0.append(tag == .true ? 1 : 0) }
        case .int, .timestamp, .double:
            let word = UInt64(littleEndian: packed.loadUnaligned(as: UInt64.self))
            appendElement { $0.appendBigEndian(word) }
        case .string, .json: appendElement { StoredText.append(packed, to: &$0) }
        case .bytes: appendElement { $0.append(contentsOf: packed) }
        }
    }

    private mutating func appendNull() {
        count += 1
        hasNull = true
        elements.appendBigEndian(-1 as Int32)
    }

    private mutating func appendElement(_ append: (inout [UInt8]) -> Void) {
        count += 1
        let start = elements.count
        elements.appendBigEndian(0 as Int32)
        append(&elements)
        let length = Int32(clamping: elements.count - start - 4).bigEndian
        withUnsafeBytes(of: length) { for index in 0..<4 { elements[start + index] = $0[index] } }
    }

    /// Appends the dimensions, whether there are nulls, the type and, for one dimension, its length and first index,
    /// then each element after its length.
    fileprivate func append(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(1 as Int32)
        bytes.appendBigEndian((hasNull ? 1 : 0) as Int32)
        bytes.appendBigEndian(type.oid)
        bytes.appendBigEndian(Int32(clamping: count))
        bytes.appendBigEndian(1 as Int32)
        bytes.append(contentsOf: elements)
    }
}

extension [UInt8] {
    fileprivate mutating func appendBigEndian(_ number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends a value in PostgreSQL's binary format; nothing for null.
    fileprivate mutating func appendValue(_ value: Value) {
        switch value {
        case .null: break
        case .bool(let value): append(value ? 1 : 0)
        case .int(let value): appendBigEndian(value)
        case .timestamp(let value): appendBigEndian(value.ticks)
        case .double(let value): appendBigEndian(value.bitPattern)
        case .string(var text), .json(var text):
            text.withUTF8 { StoredText.append(UnsafeRawBufferPointer($0), to: &self) }
        case .bytes(let value): append(contentsOf: value)
        }
    }
}
