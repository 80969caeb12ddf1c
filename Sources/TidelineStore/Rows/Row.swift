/// One row, owned: an id and values by column name.
///
/// ```swift
/// var row: Row = ["text": "Buy milk", "complete": false]
/// row["complete"] = true
/// let text = row["text"]?.string
/// ```
///
/// A column that the row does not name is *absent* (`nil`), which an upsert leaves alone; ``Value/null`` clears it. A
/// row read from a store keeps the bytes of its buffer and makes values when they are asked for.
public struct Row: Sendable {
    /// The primary key, nil when there is none yet.
    public var key: RowID?
    /// Of a row that is as it was read, the columns of its bytes. This and what follows are no enum, as reading a value would
    /// then take and return a reference to the columns.
    private var shape: RowShape?
    private var bytes: [UInt8] = []
    /// Of any other row, in the order in which the columns were named.
    private var named: [(name: String, value: Value)] = []

    /// A row without columns.
    public init(id: RowID? = nil) {
        key = id
    }

    /// A row of columns whose names are known to be distinct and not `id`; in time that grows with their number only.
    package init(id: RowID?, distinctColumns columns: [(name: String, value: Value)]) {
        key = id
        named = columns
    }

    init(packed key: RowID, shape: RowShape, bytes: [UInt8]) {
        self.key = key
        self.shape = shape
        self.bytes = bytes
    }

    /// The shape and bytes of a row that is as it was read.
    var packed: (shape: RowShape, bytes: [UInt8])? {
        shape.map { ($0, bytes) }
    }

    /// The primary key as text, an integer in decimal; empty when there is none, as an empty id counts as absent.
    public var id: String {
        get { key?.text ?? "" }
        set { setKey(.string(newValue)) }
    }

    /// The value of a column; nil when the row does not name it. `id` is a column too: set to null, an empty text or
    /// nil, the row has no id. A value that can be no id, such as a double, stays as a column that every table refuses.
    public subscript(name: String) -> Value? {
        get {
            // A column has the name `id` only where its value can be no id.
            value(of: name) ?? (name == "id" ? key?.value : nil)
        }
        set {
            if name == "id" {
                setKey(newValue)
                return
            }
            var values = takeValues()
            let index = values.firstIndex { $0.name.isSameBytes(as: name) }
            switch (index, newValue) {
            case (let index?, let value?): values[index].value = value
            case (nil, let value?): values.append((name, value))
            case (let index?, nil): values.remove(at: index)
            case (nil, nil): break
            }
            named = values
        }
    }

    private func value(of name: String) -> Value? {
        if let shape {
            guard let index = shape.index(of: name, guess: 0) else { return nil }
            return bytes.withUnsafeBytes { RowView.value(at: index, in: $0) }
        }
        for index in named.indices where named[index].name.isSameBytes(as: name) { return named[index].value }
        return nil
    }

    /// The value of a typed column; nil when null, absent or of another type. Setting nil stores null.
    public subscript<T: ColumnValue>(column: Column<T>) -> T? {
        get { self[column.name].flatMap { T(value: $0) } }
        set { self[column.name] = newValue?.value ?? .null }
    }

    /// The names of the columns that the row names, without `id`, in their order.
    public var columnNames: [String] { values.map(\.name) }

    /// Whether the row names no column beside its id.
    public var isEmpty: Bool { values.isEmpty }

    /// Names and values of the columns that the row names, without `id`, in their order.
    public var values: [(name: String, value: Value)] {
        guard let shape else { return named }
        return Row.withView(shape, bytes) { view in
            (0..<shape.count).compactMap { index in
                view.value(at: index).map { (shape.columns[index].name, $0) }
            }
        }
    }

    /// This row with the columns that `change` names laid over it; the id stays.
    public func merging(_ change: Row) -> Row {
        var merged = self
        for (name, value) in change.values { merged[name] = value }
        return merged
    }

    /// This row with only the columns for which `isIncluded` holds.
    public func filteringColumns(_ isIncluded: (String) -> Bool) -> Row {
        var filtered = Row(id: key)
        filtered.named = values.filter { isIncluded($0.name) }
        return filtered
    }

    /// The values, with the row left empty, so that a change to them copies nothing.
    private mutating func takeValues() -> [(name: String, value: Value)] {
        let values = self.values
        (shape, bytes, named) = (nil, [], [])
        return values
    }

    private mutating func setKey(_ value: Value?) {
        if key == nil, let place = named.firstIndex(where: { $0.name == "id" }) { named.remove(at: place) }
        switch value {
        case .string(let text): key = text.isEmpty ? nil : .string(text)
        case .int(let number): key = .int(number)
        case nil, .null: key = nil
        case let value?:
            key = nil
            named = takeValues() + [("id", value)]
        }
    }

    private static func withView<T>(_ shape: RowShape, _ bytes: [UInt8], _ body: (borrowing RowView) -> T) -> T {
        bytes.withUnsafeBytes { bytes in
            var view = RowView(shape: shape)
            // A row's bytes were checked or made by this process when the row was made.
            view.point(atID: UnsafeRawBufferPointer(start: nil, count: 0), trusting: bytes)
            return body(view)
        }
    }
}

extension Row: ExpressibleByDictionaryLiteral {
    /// `["id": "1", "text": "Buy milk"]`: `id` becomes the key, the rest are columns; of a name given twice the last
    /// counts.
    public init(dictionaryLiteral elements: (String, Value)...) {
        self.init()
        for (name, value) in elements { self[name] = value }
    }
}

extension Row: Hashable, CustomStringConvertible {
    /// Equal when the ids are and the same columns are named with the same values, in whatever order.
    public static func == (a: Row, b: Row) -> Bool {
        guard a.key == b.key else { return false }
        let (left, right) = (a.values, b.values)
        return left.count == right.count && left.allSatisfy { b[$0.name] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(values.count)
    }

    /// The row as a person reads it: `[id: "1", text: "Buy milk"]`.
    public var description: String {
        let columns = values.map { "\($0.name): \($0.value)" }
        return "[\((["id: \(key?.value ?? .null)"] + columns).joined(separator: ", "))]"
    }
}
