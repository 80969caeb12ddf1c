internal import Synchronization
internal import TidelineStore
internal import TidelineWire

/// Converts rows of one table to and from JSON text, and compares rows for a push.
final class RowCodec: Sendable {
    let schema: TableSchema
    /// The names of the app's columns. Only these are sent and compared.
    let appColumns: [String]
    /// The names of the system columns that the table stores.
    private let systemColumns: [String]
    /// The parser of stored rows. It accepts any JSON, because stores do not check the text that an app writes itself.
    let parser: PageParser
    /// The parser of the server's rows.
    let answerParser: PageParser
    /// The parser of the server's rows in responses to changes, which may omit columns.
    let changeParser: PageParser

    init(schema: TableSchema) {
        self.schema = schema
        appColumns = schema.columns.map(\.name)
        systemColumns = schema.systemColumns.columns.map(\.name)
        var answerParser = PageParser(schema: schema, keepsOthers: true)
        var parser = schema.systemColumns.contains(.extra) ? PageParser(schema: schema) : answerParser
        parser.acceptsAnyJSON = true
        answerParser.checksNames = true
        answerParser.keepsTexts = true
        self.answerParser = answerParser
        answerParser.completesRows = false
        changeParser = answerParser
        self.parser = parser
    }

    /// Parses a stored row. Columns that the table no longer defines are omitted.
    func row(_ json: String) throws -> Row {
        var json = json
        return try json.withUTF8 { try parser.parseRow(UnsafeRawBufferPointer($0), requireID: false) }
    }

    /// Parses a stored row of a table that is not defined. Types follow from the JSON.
    static func looseRow(_ json: String) throws -> Row {
        var json = json
        return try json.withUTF8 { try JSONRow.parse(UnsafeRawBufferPointer($0)) }
    }

    /// Returns the server's row with null in the app's columns that it omits. The two are equivalent on the wire.
    func completed(_ row: Row) -> Row { completed(row, from: Row()) }

    /// Returns the row with the values of another one in the app's columns that it omits, or null.
    func completed(_ row: Row, from other: @autoclosure () -> Row) -> Row {
        let lacking = appColumns.indices.filter { row.value(of: appColumns[$0], guess: $0) == nil }
        guard !lacking.isEmpty else { return row }
        let other = other()
        return lacking.reduce(into: row) { completed, index in
            completed[appColumns[index]] = other.value(of: appColumns[index], guess: index) ?? .null
        }
    }

    /// Returns whether a row has any of the app's columns.
    func hasAppColumns(_ row: Row) -> Bool { row.columnNames.contains { !SystemColumns.names.contains($0) } }

    // MARK: Storing

    /// Replaces a stored row by the server's. Columns that the server's row omits become null.
    func replace(_ id: String, by row: Row, in writer: some StoreWriter) throws {
        var columns = appColumns.enumerated().map { index, name in
            (name: name, value: row.value(of: name, guess: index) ?? .null)
        }
        for (index, name) in systemColumns.enumerated() {
            guard let value = row.value(of: name, guess: appColumns.count + index) else { continue }
            columns.append((name, value))
        }
        var stored = Row(id: .string(id), distinctColumns: columns)
        stored.forgetExtra(of: schema)
        var rows = PackedRows(shape: try writer.shape(of: schema.name), byteCapacity: 512)
        try rows.append(stored)
        try writer.upsert(rows, into: schema.name)
    }

    /// Stores the row that a pull has stored with a removed operation, because no later pull returns it. A row that
    /// does not fit the table is omitted.
    func storePulled(of operation: TableOperation, in writer: some StoreWriter) throws {
        guard let pulled = try operation.pulled.map(row), !pulled.isTombstone, fits(pulled) else { return }
        try replace(operation.itemID, by: pulled, in: writer)
    }

    /// Returns whether the store accepts the server's row. Columns that it omits are null.
    func fits(_ row: Row) -> Bool {
        schema.columns.allSatisfy { column in
            guard let type = row[column.name]?.type else { return column.isOptional }
            return type == column.type
        }
    }

    /// Throws ``OperationFailure`` if a row from the server or a delegate cannot be stored in the table.
    func requireFit(_ row: Row?, _ code: OperationFailure.Code) throws {
        guard let row else { return }
        for (index, (name, value)) in row.values.enumerated() where !SystemColumns.contains(name: name) {
            let isGuessed = index < appColumns.count && appColumns[index] == name
            guard let column = isGuessed ? schema.columns[index] : schema.column(name) else {
                throw OperationFailure(code, "the table has no column \(name.debugDescription)")
            }
            guard !value.isNull || column.isOptional, value.type == nil || value.type == column.type,
                value.json.map(JSONRow.isArrayOrObject) ?? true
            else {
                throw OperationFailure(
                    code,
                    "the row cannot be stored: \(value) does not fit the column \(name.debugDescription) of type "
                        + column.type.rawValue)
            }
        }
    }

    // MARK: Comparing

    /// Returns whether the server's row shows that a body was applied: the values of all columns in the body are equal.
    func shows(_ server: Row, _ sent: Row) -> Bool {
        sent.columnNames.allSatisfy { SystemColumns.names.contains($0) || isSame(server, sent, in: $0) }
    }

    /// Returns whether two rows have the same value in a column, to the precision that servers keep: timestamps to the
    /// millisecond, integers beyond 2^53 as doubles, JSON by its content. An absent value equals null.
    func isSame(_ a: Row, _ b: Row, in column: String) -> Bool {
        RowCodec.isSame(a[column] ?? .null, b[column] ?? .null)
    }

    private static func isSame(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.int(let x), .int(let y)): x == y || (max(x.magnitude, y.magnitude) > 1 << 53 && Double(x) == Double(y))
        case (.timestamp(let x), .timestamp(let y)): x.flooredToMillisecond == y.flooredToMillisecond
        case (.json(let x), .json(let y)): x == y || isSameJSON(x, y)
        default: a == b
        }
    }

    /// Returns whether two values are equal without any loss of precision. JSON is compared by its content.
    static func isExactlySame(_ a: Value, _ b: Value) -> Bool {
        if case .json = a { return isSame(a, b) }
        return a == b
    }

    private static func isSameJSON(_ a: String, _ b: String) -> Bool {
        guard let x = try? RecordJSON.decode(JSONContent.self, from: a),
            let y = try? RecordJSON.decode(JSONContent.self, from: b)
        else { return false }
        return x == y
    }
}

/// The codecs of the tables that were pushed, because creating one takes longer than using it.
final class CodecCache: Sendable {
    private let codecs = Mutex<[String: (shape: RowShape, codec: RowCodec)]>([:])

    /// Returns the codec of a table as it is defined now.
    func codec(for schema: TableSchema, in reader: some StoreReader) throws -> RowCodec {
        // The names of columns are compared by bytes, which the comparison of definitions does not do.
        let shape = try reader.shape(of: schema.name)
        return codecs.withLock { codecs in
            if let known = codecs[schema.name], known.shape === shape, known.codec.schema == schema {
                return known.codec
            }
            let codec = RowCodec(schema: schema)
            codecs[schema.name] = (shape, codec)
            return codec
        }
    }
}

/// The content of a JSON text, for comparison. Foundation's objects do not work here because `true` may equal 1.
enum JSONContent: Codable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONContent])
    case object([String: JSONContent])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONContent].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONContent].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension TableSchema {
    /// Returns an identifier in the form in which this table compares it.
    func itemKey(_ id: String) -> String { idMatching == .exact ? id : id.asciiLowercased }

    /// Returns whether two identifiers, or keys of them, are of the same row.
    func hasSameKey(_ a: String, _ b: String) -> Bool {
        RowID.string(a) == .string(b) || RowID.string(itemKey(a)) == .string(itemKey(b))
    }
}

extension Row {
    /// The row as JSON, as stored with an operation.
    var json: String {
        var writer = JSONWriter()
        // Most rows fit, so that the buffer need not grow repeatedly.
        writer.bytes.reserveCapacity(1_024)
        writer.append(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Returns the row with the stored identifier and without the system columns that the table does not store.
    func fitted(to schema: TableSchema, id: String) -> Row {
        let stored = schema.systemColumns.columns.map(\.name)
        var row = filteringColumns { !SystemColumns.contains(name: $0) || stored.contains($0) }
        row.forgetExtra(of: schema)
        row.id = .string(id)
        return row
    }

    /// Sets the server's further columns to null if they are absent and the version is not. They belong to one version
    /// of the row: with another version they are not known.
    fileprivate mutating func forgetExtra(of schema: TableSchema) {
        if schema.systemColumns.contains(.extra), extra == nil, self["version"] != nil { extra = .null }
    }

    /// The time of the server's last change to the row.
    var updatedAt: Timestamp? { self["updatedAt"]?.timestamp }

    /// The server's version of the row.
    var version: String? { self["version"]?.string }

    /// The server's columns that the table does not define, as a JSON object; null or `nil` if they are not known.
    var extra: TidelineStore.Value? {
        get { self["__extra"] }
        set { self["__extra"] = newValue }
    }
}
