/// A row that owns its values: an identifier and values by column name.
///
/// ```swift
/// var row: Row = ["text": "Buy milk", "complete": false]
/// row["complete"] = true
/// let text = row["text"]?.string
/// ```
///
/// A column without a value is *absent* (`nil`): an upsert does not change it. ``Value/null`` clears it. A row read
/// from a store keeps its packed bytes and creates values on access.
public struct Row: Sendable {
    /// The identifier, which is the primary key, or `nil` if there is none yet.
    public var id: RowID? {
        didSet {
            // An invalid identifier was kept as a column.
            guard oldValue == nil, let place = named.firstIndex(where: { $0.name == "id" }) else { return }
            named.remove(at: place)
        }
    }
    /// The columns of the packed bytes, if the row is unchanged since it was read.
    ///
    /// This property and the next two are not an enum, because reading a value would then retain and release the
    /// columns.
    private var shape: RowShape?
    private var bytes: [UInt8] = []
    /// The columns of any other row, in the order in which they were set.
    private var named: [(name: String, value: TidelineStore.Value)] = []

    /// Creates a row without columns.
    public init(id: RowID? = nil) {
        self.id = id
    }

    /// Creates a row from columns with distinct names other than `id`, in time linear in their number.
    package init(id: RowID?, distinctColumns columns: [(name: String, value: TidelineStore.Value)]) {
        self.id = id
        named = columns
    }

    /// Creates a row with these columns of a view: null for a column without a position or a value.
    package init(_ view: borrowing RowView, columns: [(name: String, position: Int?)]) {
        id = view.id
        named.reserveCapacity(columns.count)
        for (name, position) in columns { named.append((name, position.flatMap { view.value(at: $0) } ?? .null)) }
    }

    init(packed id: RowID, shape: RowShape, bytes: [UInt8]) {
        self.id = id
        self.shape = shape
        self.bytes = bytes
    }

    /// The shape and bytes of the row if it is unchanged since it was read.
    var packed: (shape: RowShape, bytes: [UInt8])? {
        shape.map { ($0, bytes) }
    }

    /// The identifier as text, an integer in decimal; an empty text if there is none yet.
    public var idText: String { id?.text ?? "" }

    /// The value of a column, or `nil` if it is absent.
    ///
    /// `id` is also a column. Setting it to null, an empty text, or `nil` removes the identifier. A value that cannot
    /// be an identifier, such as a double, is kept as a column that every table rejects.
    public subscript(name: String) -> TidelineStore.Value? {
        get {
            // A column is named `id` only if its value cannot be an identifier.
            value(of: name) ?? (name == "id" ? id?.value : nil)
        }
        set {
            if name == "id" {
                setID(newValue)
                return
            }
            var values = takeValues()
            let index = values.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): values[index].value = value
            case (nil, let value?): values.append((name, value))
            case (let index?, nil): values.remove(at: index)
            case (nil, nil): break
            }
            named = values
        }
    }

    private func value(of name: String) -> TidelineStore.Value? {
        if let shape {
            guard let index = shape.index(of: name, guess: 0) else { return nil }
            return unsafe bytes.withUnsafeBytes { unsafe RowView.value(at: index, in: $0) }
        }
        for index in named.indices where named[index].name == name { return named[index].value }
        return nil
    }

    /// Returns the value of a column, or `nil` if it is absent.
    ///
    /// - Parameter guess: The probable position of the column in the row.
    package func value(of name: String, guess: Int) -> TidelineStore.Value? {
        if let shape {
            guard let index = shape.index(of: name, guess: guess) else { return nil }
            return unsafe bytes.withUnsafeBytes { unsafe RowView.value(at: index, in: $0) }
        }
        return guess < named.count && named[guess].name == name ? named[guess].value : value(of: name)
    }

    /// Returns whether both rows have the same identifier and are unchanged since they were read with the same bytes.
    package func hasSameBytes(as other: Row) -> Bool {
        guard let shape, shape === other.shape else { return false }
        return id == other.id && bytes == other.bytes
    }

    /// The value of a typed column, or `nil` if it is null, absent, or of another type. Setting `nil` stores null.
    public subscript<T: ColumnValue>(column: Column<T>) -> T? {
        get { self[column.name].flatMap { T(columnValue: $0) } }
        set { self[column.name] = newValue?.columnValue ?? .null }
    }

    /// The names of the row's columns in their order, without `id`.
    public var columnNames: [String] { values.map(\.name) }

    /// Whether the row has no columns other than its identifier.
    public var isEmpty: Bool { values.isEmpty }

    /// The names and values of the row's columns in their order, without `id`.
    public var values: [(name: String, value: TidelineStore.Value)] {
        guard let shape else { return named }
        return Row.withView(shape, bytes) { view in
            (0..<shape.count).compactMap { index in
                view.value(at: index).map { (shape.columns[index].name, $0) }
            }
        }
    }

    /// Calls `body` with the columns of a row that is unchanged since it was read, without copying values. The view has
    /// no identifier. Returns `nil` for any other row.
    package func withPackedColumns<T>(_ body: (borrowing RowView) -> T) -> T? {
        shape.map { Row.withView($0, bytes, body) }
    }

    /// Returns the row as a record.
    ///
    /// - Throws: The errors of ``RecordReader/read(_:)``; ``StoreError/Code/invalidValue`` for a row without an
    ///   identifier and, unless the row is unchanged since it was read from the record's table, for a value that does
    ///   not fit its column.
    public func record<Record: TableRecord>(_ type: Record.Type = Record.self) throws -> Record {
        if let shape, let id, shape.table == Record.tableName {
            return try unsafe id.withBytes { id in
                try unsafe bytes.withUnsafeBytes { bytes in
                    var view = RowView(shape: shape)
                    // This process validated or created the bytes when it created the row.
                    unsafe view.point(atID: id, trusting: bytes)
                    return try view.record()
                }
            }
        }
        var rows = PackedRows(shape: Record.schema.makeShape())
        try rows.append(filteringColumns { rows.shape.index(of: $0) != nil })
        return try rows.withRow(at: 0) { try $0.record() }
    }

    /// Returns this row with the columns of `change` replaced or added. The identifier does not change, unless `change`
    /// has an invalid one, which replaces it.
    public func merging(_ change: Row) -> Row {
        var merged = self
        var values = merged.takeValues()
        var invalidID: TidelineStore.Value?
        // The columns of both are usually in the same order, so each is searched from the one after the last.
        var next = 0
        for (name, value) in change.values {
            guard name != "id" else {
                invalidID = value
                continue
            }
            let isNamed = { (column: (name: String, value: TidelineStore.Value)) in column.name == name }
            if let index = values[next...].firstIndex(where: isNamed) ?? values[..<next].firstIndex(where: isNamed) {
                values[index].value = value
                next = index + 1
            } else {
                values.append((name, value))
            }
        }
        merged.named = values
        if let invalidID { merged.setID(invalidID) }
        return merged
    }

    /// Returns this row with only the columns for which `isIncluded` returns `true`.
    package func filteringColumns(_ isIncluded: (String) -> Bool) -> Row {
        var filtered = Row(id: id)
        filtered.named = values.filter { isIncluded($0.name) }
        return filtered
    }

    /// Returns the values and empties the row, so that changing them does not copy.
    private mutating func takeValues() -> [(name: String, value: TidelineStore.Value)] {
        let values = self.values
        (shape, bytes, named) = (nil, [], [])
        return values
    }

    private mutating func setID(_ value: TidelineStore.Value?) {
        switch value {
        case .string(let text): id = text.isEmpty ? nil : .string(text)
        case .int(let number): id = .int(number)
        case nil, .null: id = nil
        case let value?:
            id = nil
            named = takeValues() + [("id", value)]
        }
    }

    private static func withView<T>(_ shape: RowShape, _ bytes: [UInt8], _ body: (borrowing RowView) -> T) -> T {
        unsafe bytes.withUnsafeBytes { bytes in
            var view = RowView(shape: shape)
            // This process validated or created the bytes when it created the row.
            unsafe view.point(atID: UnsafeRawBufferPointer(start: nil, count: 0), trusting: bytes)
            return body(view)
        }
    }
}

extension Row: ExpressibleByDictionaryLiteral {
    /// Creates a row from a literal such as `["id": "1", "text": "Buy milk", "due": date]`.
    ///
    /// `id` becomes the identifier, and the other names are columns. The last value takes precedence if a name occurs
    /// more than once.
    public init(dictionaryLiteral elements: (String, any ValueConvertible)...) {
        self.init()
        for (name, value) in elements { self[name] = value.columnValue }
    }
}

extension Row: Hashable, CustomStringConvertible {
    /// Rows are equal if their identifiers are equal and they have the same columns with the same values, in any order.
    public static func == (a: Row, b: Row) -> Bool {
        guard a.id == b.id else { return false }
        let (left, right) = (a.values, b.values)
        return left.count == right.count && left.allSatisfy { b[$0.name] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        // The sum does not depend on the order of the columns.
        var columns = 0
        for (name, value) in values {
            var column = Hasher()
            column.combine(name)
            column.combine(value)
            columns &+= column.finalize()
        }
        hasher.combine(columns)
    }

    /// The row for use in messages: `[id: "1", text: "Buy milk"]`.
    public var description: String {
        let columns = values.map { "\($0.name): \($0.value)" }
        return "[\((["id: \(id?.value ?? .null)"] + columns).joined(separator: ", "))]"
    }
}
