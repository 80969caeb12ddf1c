internal import TidelineStore

/// Reads the rows of one response directly into a batch, without a dictionary per row or a `String` per value.
struct PageReader: ~Copyable {
    var scanner: JSONScanner
    /// The parser, whose table of members learns names of this response.
    private(set) var parser: PageParser
    let idType: TableSchema.IDType
    /// The number of columns that are read from members of their names: all, or all but the one for other members.
    private let namedColumns: Int
    /// The members of the current row that the table does not define, if they are kept; after the last one, those of
    /// the response.
    private(set) var others: [UInt8] = []
    private(set) var ids: IDSet
    /// For each member, the member that followed it in the previous rows. Servers use the same order in every row.
    private var successors: [Member]
    /// The values of the current row. `row` contains its other properties.
    var values: StagedRow
    var row = RowState()
    private(set) var info = PageInfo(rowCount: 0)
    private let skipsRejectedRows: Bool
    /// The column that accepts numbers as texts, if any.
    let numberedColumn: Int?
    private let keepsTexts: Bool
    /// The first name that differs from that of a column only in case, if no column has occurred.
    private var misspelled: JSONFault?
    /// Whether an app column has occurred, so that names need no further check.
    private var hasColumns = false
    /// The id of the row that already has the id of the last row, if that is an error.
    private(set) var otherID: String?
    /// The rows that were left out. Their messages are created at the end.
    private(set) var rejectedRows: [(row: RejectedRow, fault: JSONFault, rowStart: Int)] = []

    struct RowState {
        var start = 0
        var hasID = false
        var idOffset = 0
        /// The value of `deleted` in the row, if the shape has no such column.
        var isDeleted: Bool?
        /// The first value that does not fit its column.
        var fault: JSONFault?
    }

    /// Creates a reader for a response whose first row will have the position `firstRow` in the batch.
    init(_ bytes: UnsafeRawBufferPointer, parser: PageParser, firstRow: Int, skipsRejectedRows: Bool = false) {
        self.skipsRejectedRows = skipsRejectedRows
        self.parser = parser
        numberedColumn = parser.list.flatMap { _ in parser.shape.index(of: "version") }
        keepsTexts = parser.keepsTexts && parser.keepsOthers
        scanner = JSONScanner(bytes)
        namedColumns = parser.keepsOthers ? parser.types.count - 1 : parser.types.count
        idType = parser.shape.idType
        // A low estimate of the number of rows. The memory for it is negligible compared with the response.
        ids = IDSet(matching: parser.idMatching, firstRow: firstRow, expecting: bytes.count / 512)
        successors = parser.members.initialSuccessors
        values = StagedRow(columns: parser.types.count)
    }

    // MARK: Responses

    /// Reads a whole response.
    mutating func readPage(into rows: inout PackedRows) throws(JSONFault) {
        switch try scanner.token() {
        case UInt8(ascii: "[") where parser.list?.isEmpty ?? true:
            try readRows(into: &rows)
            others = []
        case UInt8(ascii: "{"): try readWrappedRows(into: &rows)
        default: throw try scanner.misplaced(.notAPage)
        }
        try scanner.expectEnd()
        // Of deleted rows, no column is stored.
        if let misspelled, info.deleted.count < info.rowCount { throw misspelled }
    }

    private mutating func readRows(into rows: inout PackedRows) throws(JSONFault) {
        try scanner.open()
        guard try scanner.hasFirst(before: UInt8(ascii: "]")) else { return }
        repeat {
            guard try scanner.token() == UInt8(ascii: "{") else { throw try scanner.misplaced(.notARow) }
            try readRow()
            try finishRow(into: &rows)
        } while try scanner.hasNext(before: UInt8(ascii: "]"))
    }

    /// Reads `{"results":[…],"count":n}` or `{"items":[…],"count":n,"nextLink":"…"}`, with the members in any order and
    /// any other members; or the list of another name, and the other members.
    private mutating func readWrappedRows(into rows: inout PackedRows) throws(JSONFault) {
        let start = scanner.position
        var hasResults = false
        var members: [UInt8] = []
        defer { others = members }
        try scanner.open()
        if try scanner.hasFirst(before: UInt8(ascii: "}")) {
            repeat {
                _ = try scanner.token()
                let member = scanner.position
                let name = try scanner.name()
                let byte = try scanner.token()
                if scanner.withContent(of: name, { [list = parser.list] in Self.isList($0, named: list) }) {
                    guard !hasResults else { throw scanner.fault(.repeatedResults) }
                    guard byte == UInt8(ascii: "[") else { throw try scanner.misplaced(.notAPage) }
                    try readRows(into: &rows)
                    hasResults = true
                } else if parser.list != nil {
                    try scanner.skipValue()
                    members += scanner.slice(member, scanner.position)
                    members.append(UInt8(ascii: ","))
                } else if scanner.withContent(of: name, { $0.elementsEqual("count".utf8) }) {
                    info.totalCount = try scanner.count()
                } else if scanner.withContent(of: name, { $0.elementsEqual("nextLink".utf8) }) {
                    info.nextLink = try scanner.link()
                } else {
                    try scanner.skipValue()
                }
            } while try scanner.hasNext(before: UInt8(ascii: "}"))
        }
        guard hasResults else { throw JSONFault(kind: .noResults, offset: start) }
    }

    /// Returns whether a member of a response has its rows.
    private static func isList(_ member: some Sequence<UInt8>, named list: String?) -> Bool {
        guard let list else { return member.elementsEqual("results".utf8) || member.elementsEqual("items".utf8) }
        return member.elementsEqual(list.utf8)
    }

    private mutating func finishRow(into rows: inout PackedRows) throws(JSONFault) {
        if parser.checksNames, !hasColumns { checkNames() }
        guard row.hasID else { throw misspelled ?? JSONFault(kind: .missingID, offset: row.start, place: .id) }
        completeOthers()
        let hash = try pack(into: &rows)
        if let fault = row.fault { return leaveOut(fault, of: &rows) }
        if row.isDeleted == true { info.deleted.append(rows.count - 1) }
        if let other = ids.insertLast(hash, of: rows) { try acceptTombstone(after: other, of: rows) }
        info.rowCount += 1
    }

    /// Throws unless the last row and the earlier one with its id, perhaps in another case, are deleted.
    private mutating func acceptTombstone(after other: Int, of rows: borrowing PackedRows) throws(JSONFault) {
        guard row.isDeleted == true, info.deleted.contains(other) else {
            otherID = rows.withRow(at: other) { $0.idText }
            throw JSONFault(kind: .duplicateID, offset: row.idOffset, place: .id)
        }
    }

    /// Removes the last row, which has an invalid value, from the batch.
    private mutating func leaveOut(_ fault: JSONFault, of rows: inout PackedRows) {
        let (id, updatedAt) = rows.withRow(at: rows.count - 1) { ($0.idText, $0["updatedAt"]?.timestamp) }
        rows.truncate(toCount: rows.count - 1)
        rejectedRows.append(
            (RejectedRow(id: id, updatedAt: updatedAt, position: info.rowCount, message: ""), fault, row.start))
    }

    /// Removes the misspelled name if the row has its identifier and a column with the right name. The first rows of a
    /// page may be tombstones without columns.
    private mutating func checkNames() {
        guard row.hasID else { return }
        hasColumns = values.hasAny(of: parser.appColumns)
        guard let fault = misspelled else { return }
        if case .id = fault.place { misspelled = nil }
        if hasColumns { misspelled = nil }
    }

    private mutating func pack(into rows: inout PackedRows) throws(JSONFault) -> UInt64 {
        guard let hash = values.pack(into: &rows, hashing: ids) else {
            throw JSONFault(kind: .rowTooLarge, offset: row.start)
        }
        return hash
    }

    // MARK: Single rows

    /// Reads a response that consists of one row into an empty batch.
    ///
    /// - Returns: The properties of the row in addition to its columns.
    mutating func readSingleRow(into rows: inout PackedRows, requireID: Bool) throws(JSONFault) -> RowState {
        guard try scanner.token() == UInt8(ascii: "{") else { throw try scanner.misplaced(.notARow) }
        try readRow()
        try scanner.expectEnd()
        guard row.hasID || !requireID else {
            throw misspelled ?? JSONFault(kind: .missingID, offset: row.start, place: .id)
        }
        checkNames()
        if let misspelled { throw misspelled }
        // An integer id always has eight bytes, even if the row has no id. The caller removes it.
        if !row.hasID, idType == .int { setID(0) }
        completeOthers()
        _ = try pack(into: &rows)
        return row
    }

    /// Stores the members that the table does not define. Columns that the row omits become null, because the server
    /// may omit a null.
    private mutating func completeOthers() {
        if parser.completesRows { values.completeAbsent() }
        guard namedColumns < parser.types.count else { return }
        values.setScratch(as: .json, at: namedColumns) { [others] scratch in
            scratch.append(UInt8(ascii: "{"))
            scratch += others.dropLast()
            scratch.append(UInt8(ascii: "}"))
        }
    }

    // MARK: Members

    /// Reads the values of the object here.
    private mutating func readRow() throws(JSONFault) {
        row = RowState(start: scanner.position)
        values.removeAll()
        others.removeAll(keepingCapacity: true)
        // The depth is counted from the row, so that the limit for a row does not depend on what encloses it. A row
        // that a server has accepted can then also be sent.
        let outerDepth = scanner.depth
        scanner.depth = 0
        defer { scanner.depth = outerDepth }
        try scanner.open()
        guard try scanner.hasFirst(before: UInt8(ascii: "}")) else { return }
        var previous = parser.members.start
        repeat {
            let expected = successors[previous]
            _ = try scanner.token()
            let start = scanner.position
            let length = parser.members.length(of: expected, in: scanner.bytes, at: scanner.position)
            scanner.position += length
            let member = length > 0 ? expected : try readName(after: previous)
            if member < namedColumns {
                if keepsTexts { _ = try scanner.token() }
                let valueStart = scanner.position
                if skipsRejectedRows { try readColumnOrSkip(member) } else { try readColumn(member) }
                if keepsTexts { keepText(of: member, from: start, valueStart) }
            } else {
                try readOther(member, from: start)
            }
            previous = member
        } while try scanner.hasNext(before: UInt8(ascii: "}"))
    }

    /// Stores the text of an app column with the other members if the value is written differently.
    ///
    /// - Parameters:
    ///   - start: The position of the member's name.
    ///   - valueStart: The position of its value.
    private mutating func keepText(of column: Int, from start: Int, _ valueStart: Int) {
        guard parser.appColumns.contains(column),
            !values.isWritten(at: column, as: scanner.slice(valueStart, scanner.position))
        else { return }
        others += scanner.slice(start, scanner.position)
        others.append(UInt8(ascii: ","))
    }

    /// Reads the value of a column. If it does not fit, records the error and skips the value.
    private mutating func readColumnOrSkip(_ column: Int) throws(JSONFault) {
        let start = scanner.position
        do {
            try readColumn(column)
        } catch {
            guard error.kind.code == .invalidValue else { throw error }
            scanner.position = start
            try scanner.skipValue()
            values.set(.null, at: column)
            row.fault = row.fault ?? error
        }
    }

    /// Reads a name other than the expected one, and its colon.
    private mutating func readName(after previous: Member) throws(JSONFault) -> Member {
        let name = try scanner.name()
        let guess = successors[previous]
        let members = parser.members
        var member = scanner.withContent(of: name) { members.member(named: $0, guess: guess) }
        let isUnknown = member == members.unknown
        if isUnknown, parser.checksNames, !hasColumns, misspelled == nil {
            let columns = parser.appColumns
            let place = scanner.withContent(of: name) { members.place(like: $0, in: columns) }
            misspelled = place.map { JSONFault(kind: .misspelledName, offset: name.start - 1, place: $0) }
        }
        // A name in the first row, which may be the only one, is not worth it.
        if isUnknown, info.rowCount > 0, !name.hasEscapes {
            member = parser.members.learn(scanner.slice(name.start, name.end))
            if member == successors.count { successors.append(0) }
        }
        successors[previous] = member
        return member
    }

    /// - Parameter start: The position of the member's name.
    private mutating func readOther(_ member: Member, from start: Int) throws(JSONFault) {
        if member == parser.members.id {
            try readID()
        } else if member == parser.members.deleted {
            try readDeleted()
        } else if namedColumns < parser.types.count {
            // The value will be nested one level deeper.
            scanner.depth += 1
            defer { scanner.depth -= 1 }
            try scanner.skipValue()
            others += scanner.slice(start, scanner.position)
            others.append(UInt8(ascii: ","))
        } else {
            try scanner.skipValue()
        }
    }
}
