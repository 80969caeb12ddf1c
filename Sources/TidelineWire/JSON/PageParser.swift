public import TidelineStore

/// Reads the JSON of a table service into rows, typed by the table's definition.
///
/// A column of the definition takes the JSON that its type has on the wire: text for `string`, `timestamp` (ISO 8601)
/// and `bytes` (base64), a number for `int` (whole, within 64 bits; `1.0` and `1e3` are whole) and `double` (correctly
/// rounded), `true` or `false` for `bool`, an array or object, kept as its text, for `json`. Null fits every column.
/// Any other value is an error, as is a value that the type cannot hold exactly: nothing is rounded off, cut or
/// guessed. Whether a column may be null is left to the store. Members that the table does not define are checked to
/// be JSON and skipped. Of a member that is there twice, the last counts.
///
/// Read is strict RFC 8259, in UTF-8, but for a byte order mark at the beginning, which is skipped, and arrays and
/// objects more than 512 deep in each other, which are an error.
///
/// No parser state is shared: one parser may serve any number of threads.
public struct PageParser: Sendable {
    /// The shape of the rows; make the ``TidelineStore/PackedRows`` for ``parsePage(_:into:)`` with it.
    public let shape: RowShape
    let idMatching: IDMatching
    let types: [ColumnType]
    let members: MemberTable

    /// A parser for the rows of one table.
    public init(schema: TableSchema) {
        shape = schema.makeShape()
        idMatching = schema.idMatching
        types = shape.columns.map(\.type)
        members = MemberTable(shape: shape)
    }

    /// Reads the answer to a query, a bare array of rows or `{"results":[…],"count":n}` in any order, and adds its
    /// rows to `rows`. When it throws, `rows` is as before.
    ///
    /// - Parameters:
    ///   - rows: A batch made with ``shape``.
    ///   - skipsMisfits: Whether rows with a value that does not fit its column are left out and named in
    ///     ``PageInfo/misfits``. A row whose id cannot be read is an error in any case.
    /// - Throws: ``WireError`` with the offset of the fault: ``WireError/Code/malformedJSON``,
    ///   ``WireError/Code/wrongShape``; ``WireError/Code/invalidValue``, naming table, column and id;
    ///   ``WireError/Code/missingID`` for a row whose id is not there, null or empty; ``WireError/Code/duplicateID`` for
    ///   a second row with an id that is the same under the table's `idMatching`.
    public func parsePage(
        _ bytes: UnsafeRawBufferPointer, into rows: inout PackedRows, skipsMisfits: Bool = false
    ) throws(WireError) -> PageInfo {
        precondition(rows.shape.hasSameColumns(as: shape), "the batch was made for another shape")
        let mark = rows.count
        var reader = PageReader(bytes, parser: self, firstRow: mark, skipsMisfits: skipsMisfits)
        do {
            try reader.readPage(into: &rows)
        } catch {
            rows.truncate(toCount: mark)
            throw wireError(error, in: bytes, rowStart: reader.row.start)
        }
        var info = reader.info
        info.misfits = reader.misfits.map { misfit in
            var row = misfit.row
            let error = wireError(misfit.fault, in: bytes, rowStart: misfit.rowStart)
            (row.column, row.message) = (error.column, error.message)
            return row
        }
        return info
    }

    /// Reads one JSON object as a row. A member `deleted` that is true or false is kept as a bool also when the table
    /// does not define that column; null there counts as false.
    ///
    /// - Parameter requireID: Whether a row without an id is an error. An id that is null or empty is none.
    /// - Throws: As ``parsePage(_:into:)``.
    public func parseRow(_ bytes: UnsafeRawBufferPointer, requireID: Bool) throws(WireError) -> Row {
        var rows = PackedRows(shape: shape, byteCapacity: bytes.count)
        var reader = PageReader(bytes, parser: self, firstRow: 0)
        do {
            let state = try reader.readSingleRow(into: &rows, requireID: requireID)
            var row = rows.withRow(at: 0) { $0.owned() }
            if !state.hasID { row.key = nil }
            if let isDeleted = state.isDeleted { row["deleted"] = .bool(isDeleted) }
            return row
        } catch {
            throw wireError(error, in: bytes, rowStart: reader.row.start)
        }
    }

    // MARK: Errors

    private func wireError(_ fault: JSONFault, in bytes: UnsafeRawBufferPointer, rowStart: Int) -> WireError {
        var type = ColumnType.bool
        var name: String?
        switch fault.place {
        case .none: break
        case .column(let index): (type, name) = (types[index], shape.columns[index].name)
        case .id: (type, name) = (shape.idType == .int ? .int : .string, "id")
        case .deleted: name = "deleted"
        }
        // The id may come after the value at fault, so it is looked for only now.
        var finder = IDFinder(bytes, rowStart: rowStart)
        let isInRow = fault.kind.code == .invalidValue || fault.kind.code == .duplicateID
        return WireError(
            fault.kind.code, fault.kind.message(expecting: type), offset: fault.offset,
            table: shape.table.isEmpty ? nil : shape.table, column: name, id: isInRow ? finder.find() : nil)
    }
}

/// Finds the id in the JSON of a row that has a fault, for the message.
private struct IDFinder {
    private var scanner: JSONScanner

    init(_ bytes: UnsafeRawBufferPointer, rowStart: Int) {
        scanner = JSONScanner(bytes)
        scanner.position = rowStart
    }

    /// The text of the id, nil when there is none or the rest of the row is not JSON.
    mutating func find() -> String? {
        do {
            guard try scanner.token() == UInt8(ascii: "{") else { return nil }
            try scanner.open()
            guard try scanner.hasFirst(before: UInt8(ascii: "}")) else { return nil }
            repeat {
                let name = try scanner.name()
                if scanner.text(name) == "id", try scanner.token() == UInt8(ascii: "\"") {
                    return scanner.text(try scanner.string())
                }
                try scanner.skipValue()
            } while try scanner.hasNext(before: UInt8(ascii: "}"))
        } catch {
            return nil
        }
        return nil
    }
}
