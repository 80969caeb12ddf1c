package import TidelineStore

/// Reads the JSON of a table service into rows, with the types of the table's definition.
///
/// The type of a column determines the JSON values that it accepts: text for `string`, `timestamp` (ISO 8601) and
/// `bytes` (base64), a number for `int` (whole, within 64 bits; `1.0` and `1e3` are whole) and `double` (correctly
/// rounded), `true` or `false` for `bool`, an array or object, kept as its text, for `json`. Each column accepts null;
/// the store checks whether a column is optional. Any other value is an error, as is a value that the type cannot
/// represent exactly, such as text with an escaped half of a surrogate pair: values are never rounded, truncated or
/// guessed. Members that the table does not define are skipped after a check that they are valid JSON. If a member is
/// repeated, the last one is used; of those in `__extra`, ``WholeRow`` sends back the first one.
///
/// The input must conform to RFC 8259, in UTF-8, with two exceptions: a byte order mark at the beginning is skipped,
/// and arrays and objects that are nested more than 512 levels deep are an error.
///
/// A parser has no mutable state, and may be used by any number of threads.
package struct PageParser: Sendable {
    /// The shape of the rows. The ``TidelineStore/PackedRows`` for ``parsePage(_:into:)`` must have this shape.
    package let shape: RowShape
    let idMatching: TableSchema.IDMatching
    let types: [ColumnType]
    var members: MemberTable
    /// Whether the members that the table does not define are stored in its last column, `__extra`.
    let keepsOthers: Bool
    /// Whether a column of type `json` accepts values that are neither an array nor an object.
    package var acceptsAnyJSON = false
    /// Whether columns that a row omits become null; by default if `keepsOthers` is `true`.
    package var completesRows: Bool
    /// The member of a response with its rows, an empty name if the response is the array, or `nil` for a response of a
    /// table service. With a name, the other members of the response are returned, and a number may be the text of the
    /// column `version`.
    package var list: String?
    /// Whether it is an error if no column of the table occurs, but a name that differs from one only in case.
    package var checksNames = false
    /// Whether the text of an app column whose value is written differently, such as `0.10`, is stored with the members
    /// that the table does not define if `keepsOthers` is `true`. ``WholeRow`` sends it back.
    package var keepsTexts = false
    /// The positions of the app's columns in the shape.
    let appColumns: Range<Int>

    /// Creates a parser for the rows of a table.
    ///
    /// - Parameter keepsOthers: Whether the members that the table does not define become a JSON object in the column
    ///   `__extra`, and columns that a row omits become null. Ignored for a table without this column.
    /// - Parameter names: The names of members that differ from those of their columns, by the names of the columns.
    package init(schema: TableSchema, keepsOthers: Bool = false, renaming names: [String: String] = [:]) {
        self.keepsOthers = keepsOthers && schema.systemColumns.contains(.extra)
        completesRows = self.keepsOthers
        shape = schema.makeShape()
        idMatching = schema.idMatching
        types = shape.columns.map(\.type)
        members = MemberTable(shape: shape, renaming: names)
        appColumns = 0..<schema.columns.count
    }

    /// Reads the response to a query, an array of rows, `{"results":[…],"count":n}`, or
    /// `{"items":[…],"count":n,"nextLink":"…"}`, and appends its rows to `rows`. If the function throws an error,
    /// `rows` is unchanged.
    ///
    /// - Parameters:
    ///   - rows: A batch with the shape ``shape``.
    ///   - skipsRejectedRows: Whether rows with a value that does not fit its column are left out and listed in
    ///     ``PageInfo/rejectedRows``. A row whose id cannot be read is always an error.
    /// - Throws: ``WireError`` with the offset of the error: ``WireError/Code/malformedJSON`` or
    ///   ``WireError/Code/wrongShape``; ``WireError/Code/invalidValue``, with the table, column and id;
    ///   ``WireError/Code/missingID`` for a row whose id is missing, null or empty; ``WireError/Code/duplicateID`` for
    ///   a second row with an id that is equal under the table's `idMatching`, unless both rows are deleted.
    package func parsePage(
        _ bytes: UnsafeRawBufferPointer, into rows: inout PackedRows, skipsRejectedRows: Bool = false
    ) throws(WireError) -> PageInfo {
        precondition(rows.shape.hasSameColumns(as: shape), "the batch has another shape")
        let mark = rows.count
        var reader = PageReader(bytes, parser: self, firstRow: mark, skipsRejectedRows: skipsRejectedRows)
        do {
            try reader.readPage(into: &rows)
        } catch {
            rows.truncate(toCount: mark)
            var error = wireError(error, in: bytes, rowStart: reader.row.start)
            if let other = reader.otherID, let id = error.id, other != id {
                error.message = WireError.differingInCase(other, id)
            }
            throw error
        }
        var info = reader.info
        if list != nil { info.members = [UInt8(ascii: "{")] + reader.others.dropLast() + [UInt8(ascii: "}")] }
        info.rejectedRows = reader.rejectedRows.map { rejectedRow in
            var row = rejectedRow.row
            let error = wireError(rejectedRow.fault, in: bytes, rowStart: rejectedRow.rowStart)
            (row.column, row.message) = (error.column, error.message)
            return row
        }
        return info
    }

    /// Reads one JSON object as a row. A Boolean member `deleted` is kept even if the table does not define that
    /// column; null is treated as `false`.
    ///
    /// - Parameter requireID: Whether a row without an id is an error. A null or empty id counts as no id.
    /// - Throws: The errors of ``parsePage(_:into:)``.
    package func parseRow(_ bytes: UnsafeRawBufferPointer, requireID: Bool) throws(WireError) -> Row {
        var rows = PackedRows(shape: shape, byteCapacity: bytes.count)
        var reader = PageReader(bytes, parser: self, firstRow: 0)
        do {
            let state = try reader.readSingleRow(into: &rows, requireID: requireID)
            var row = rows.withRow(at: 0) { $0.owned() }
            if !state.hasID { row.id = nil }
            if let isDeleted = state.isDeleted { row["deleted"] = .bool(isDeleted) }
            return row
        } catch {
            throw wireError(error, in: bytes, rowStart: reader.row.start)
        }
    }

    // MARK: Bytes of arrays

    /// Reads the response to a query. See ``parsePage(_:into:)-(UnsafeRawBufferPointer,_)``.
    package func parsePage(_ bytes: [UInt8], into rows: inout PackedRows) throws(WireError) -> PageInfo {
        try bytes.withUnsafeBufferPointer { buffer throws(WireError) in
            try parsePage(UnsafeRawBufferPointer(buffer), into: &rows)
        }
    }

    /// Reads one JSON object as a row. See ``parseRow(_:requireID:)-(UnsafeRawBufferPointer,_)``.
    package func parseRow(_ bytes: [UInt8], requireID: Bool) throws(WireError) -> Row {
        try bytes.withUnsafeBufferPointer { buffer throws(WireError) in
            try parseRow(UnsafeRawBufferPointer(buffer), requireID: requireID)
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
        var error = WireError(
            fault.kind.code, fault.kind.message(expecting: type), offset: fault.offset,
            table: shape.table.isEmpty ? nil : shape.table, column: name)
        if fault.kind == .misspelledName {
            var scanner = JSONScanner(bytes)
            scanner.position = fault.offset
            let found = (try? scanner.name()).map { scanner.text($0) } ?? ""
            error.message =
                "no column of the table occurs, but \(found.debugDescription) differs from the column "
                + "\(members.name(of: fault.place).debugDescription) only in case; define the table with the server's "
                + "names"
        } else if error.code == .invalidValue || error.code == .duplicateID {
            // The id may follow the value at fault, so it is located only now.
            error.id = id(in: bytes, rowStart: rowStart)
        }
        return error
    }

    /// Returns the text of the id of an invalid row, or `nil` if there is no id or the row is not valid JSON up to it.
    private func id(in bytes: UnsafeRawBufferPointer, rowStart: Int) -> String? {
        var scanner = JSONScanner(bytes)
        scanner.position = rowStart
        guard (try? scanner.find(members.idName, before: UInt8(ascii: "\""))) == true else { return nil }
        return (try? scanner.string()).flatMap { try? scanner.wholeText($0) }
    }
}
