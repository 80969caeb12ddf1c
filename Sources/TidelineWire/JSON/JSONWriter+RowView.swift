package import TidelineStore

extension JSONWriter {
    /// Writes a borrowed row as an object: its `id`, then its columns in the order of the shape, except those that are
    /// absent. Does not copy the values of the row first.
    ///
    /// - Parameter omitsNulls: Whether columns that are null are omitted, too.
    package mutating func append(_ view: borrowing RowView, omitsNulls: Bool = false) {
        names.prepare(for: view.shape)
        append(word: "{\"id\":")
        appendID(of: view)
        for index in 0..<view.shape.count {
            let tag = view.tag(at: index)
            guard tag != .absent, !omitsNulls || tag != .null else { continue }
            bytes.append(contentsOf: names[index])
            appendValue(of: view, at: index, tag: tag)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Writes the columns of a borrowed row that are not absent, with their names.
    mutating func append(columnsOf view: borrowing RowView, isFirst: Bool) {
        var isFirst = isFirst
        for index in 0..<view.shape.count {
            let tag = view.tag(at: index)
            guard tag != .absent else { continue }
            if !isFirst { separator() }
            isFirst = false
            append(string: view.shape.columns[index].name)
            bytes.append(UInt8(ascii: ":"))
            appendValue(of: view, at: index, tag: tag)
        }
    }

    private mutating func appendID(of view: borrowing RowView) {
        switch view.shape.idType {
        case .string: view.withIDBytes { appendText($0) }
        case .int: append(view.id.value)
        }
    }

    private mutating func appendValue(of view: borrowing RowView, at index: Int, tag: RowTag) {
        switch tag {
        case .string: view.withBytes(at: index) { appendText($0) }
        case .bytes: view.withBytes(at: index) { appendBase64($0) }
        case .json: view.withBytes(at: index) { appendJSON($0) }
        case .int: append(int: view.int(at: index) ?? 0)
        case .double: append(double: view.double(at: index) ?? 0)
        case .timestamp: view.timestamp(at: index).map { append(timestamp: $0) }
        case .true: append(word: "true")
        case .false: append(word: "false")
        case .null, .absent: append(word: "null")
        }
    }
}

/// The column names of a shape as `,"name":`, created once for all rows of a page.
struct ShapeNames: Sendable {
    private var shape: RowShape?
    private var text: [UInt8] = []
    private var ends: [Int] = []

    /// The bytes for the column at a position.
    subscript(index: Int) -> ArraySlice<UInt8> { text[(index == 0 ? 0 : ends[index - 1])..<ends[index]] }

    mutating func prepare(for shape: RowShape) {
        if self.shape === shape { return }
        self.shape = shape
        ends.removeAll()
        var writer = JSONWriter()
        for column in shape.columns {
            writer.separator()
            writer.append(string: column.name)
            writer.bytes.append(UInt8(ascii: ":"))
            ends.append(writer.bytes.count)
        }
        text = writer.bytes
    }
}
