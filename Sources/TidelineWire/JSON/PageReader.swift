internal import TidelineStore

/// Reads one answer: rows from JSON straight into a batch, without a dictionary, and without a `String` per value.
struct PageReader: ~Copyable {
    var scanner: JSONScanner
    private var members: MemberTable
    let types: [ColumnType]
    let idType: IDType
    private(set) var ids: IDSet
    /// Which member came after which in the rows before: servers send the same order in every row.
    private var successors: [Member]
    /// The values of the row under way, and what is known of it beside.
    var values: StagedRow
    var row = RowState()
    private(set) var info = PageInfo(rowCount: 0)
    private let skipsMisfits: Bool
    /// The rows that were left out; their messages are made at the end.
    private(set) var misfits: [(row: RowMisfit, fault: JSONFault, rowStart: Int)] = []

    struct RowState {
        var start = 0
        var hasID = false
        var idOffset = 0
        /// What the row says of `deleted`, when the shape has no such column.
        var isDeleted: Bool?
        /// The first value that does not fit its column.
        var misfit: JSONFault?
    }

    /// A reader of an answer whose first row will have position `firstRow` in the batch.
    init(_ bytes: UnsafeRawBufferPointer, parser: PageParser, firstRow: Int, skipsMisfits: Bool = false) {
        self.skipsMisfits = skipsMisfits
        scanner = JSONScanner(bytes)
        members = parser.members
        types = parser.types
        idType = parser.shape.idType
        // A guess at the number of rows, on the low side; no memory to speak of beside the answer's.
        ids = IDSet(matching: parser.idMatching, firstRow: firstRow, expecting: bytes.count / 512)
        successors = members.initialSuccessors
        values = StagedRow(columns: types.count)
    }

    // MARK: Answers

    /// Reads a whole answer.
    mutating func readPage(into rows: inout PackedRows) throws(JSONFault) {
        switch try scanner.token() {
        case UInt8(ascii: "["): try readRows(into: &rows)
        case UInt8(ascii: "{"): try readWrappedRows(into: &rows)
        default: throw try misplaced(.notAPage)
        }
        try scanner.expectEnd()
    }

    private mutating func readRows(into rows: inout PackedRows) throws(JSONFault) {
        try scanner.open()
        guard try scanner.hasFirst(before: UInt8(ascii: "]")) else { return }
        repeat {
            guard try scanner.token() == UInt8(ascii: "{") else { throw try misplaced(.notARow) }
            try readRow()
            try finishRow(into: &rows)
        } while try scanner.hasNext(before: UInt8(ascii: "]"))
    }

    /// Reads `{"results":[…],"count":n}`, in any order and with whatever else is there.
    private mutating func readWrappedRows(into rows: inout PackedRows) throws(JSONFault) {
        let start = scanner.position
        var hasResults = false
        try scanner.open()
        if try scanner.hasFirst(before: UInt8(ascii: "}")) {
            repeat {
                let name = try scanner.name()
                let byte = try scanner.token()
                if scanner.withContent(of: name, { $0.elementsEqual("results".utf8) }) {
                    guard !hasResults else { throw scanner.fault(.repeatedResults) }
                    guard byte == UInt8(ascii: "[") else { throw try misplaced(.notAPage) }
                    try readRows(into: &rows)
                    hasResults = true
                } else if scanner.withContent(of: name, { $0.elementsEqual("count".utf8) }) {
                    info.totalCount = try scanner.count()
                } else {
                    try scanner.skipValue()
                }
            } while try scanner.hasNext(before: UInt8(ascii: "}"))
        }
        guard hasResults else { throw JSONFault(kind: .noResults, offset: start) }
    }

    private mutating func finishRow(into rows: inout PackedRows) throws(JSONFault) {
        guard row.hasID else { throw JSONFault(kind: .missingID, offset: row.start, place: .id) }
        let hash = try pack(into: &rows)
        if let fault = row.misfit { return leaveOut(fault, of: &rows) }
        if row.isDeleted == true { info.deleted.append(rows.count - 1) }
        guard ids.insertLast(hash, of: rows) else {
            throw JSONFault(kind: .duplicateID, offset: row.idOffset, place: .id)
        }
        info.rowCount += 1
    }

    /// Takes the last row, which has a value that does not fit, out of the batch again.
    private mutating func leaveOut(_ fault: JSONFault, of rows: inout PackedRows) {
        let (id, updatedAt) = rows.withRow(at: rows.count - 1) { ($0.id, $0["updatedAt"]?.timestamp) }
        rows.truncate(toCount: rows.count - 1)
        misfits.append(
            (RowMisfit(id: id, updatedAt: updatedAt, position: info.rowCount, message: ""), fault, row.start))
    }

    private mutating func pack(into rows: inout PackedRows) throws(JSONFault) -> UInt64 {
        guard let hash = values.pack(into: &rows, hashing: ids) else {
            throw JSONFault(kind: .rowTooLarge, offset: row.start)
        }
        return hash
    }

    // MARK: Single rows

    /// Reads an answer that is one row, and nothing else, into an empty batch.
    ///
    /// - Returns: What is known of the row beside its columns.
    mutating func readSingleRow(into rows: inout PackedRows, requireID: Bool) throws(JSONFault) -> RowState {
        guard try scanner.token() == UInt8(ascii: "{") else { throw try misplaced(.notARow) }
        try readRow()
        try scanner.expectEnd()
        guard row.hasID || !requireID else { throw JSONFault(kind: .missingID, offset: row.start, place: .id) }
        // An integer id has eight bytes, also where it stands for none; the caller leaves it out.
        if !row.hasID, idType == .int { setID(0) }
        _ = try pack(into: &rows)
        return row
    }

    // MARK: Members

    /// Reads the values of the object here.
    private mutating func readRow() throws(JSONFault) {
        row = RowState(start: scanner.position)
        values.removeAll()
        // Depth counts from the row on: what one row may hold does not depend on what the rows lie in, so that a row
        // that a server took in can also be sent.
        let outerDepth = scanner.depth
        scanner.depth = 0
        defer { scanner.depth = outerDepth }
        try scanner.open()
        guard try scanner.hasFirst(before: UInt8(ascii: "}")) else { return }
        var previous = members.start
        repeat {
            let expected = successors[previous]
            _ = try scanner.token()
            let length = members.length(of: expected, in: scanner.bytes, at: scanner.position)
            scanner.position += length
            let member = length > 0 ? expected : try readName(after: previous)
            if member < types.count {
                if skipsMisfits { try readColumnOrSkip(member) } else { try readColumn(member) }
            } else {
                try readOther(member)
            }
            previous = member
        } while try scanner.hasNext(before: UInt8(ascii: "}"))
    }

    /// Reads the value of a column, or notes that it does not fit and steps over it.
    private mutating func readColumnOrSkip(_ column: Int) throws(JSONFault) {
        let start = scanner.position
        do {
            try readColumn(column)
        } catch {
            guard error.kind.code == .invalidValue else { throw error }
            scanner.position = start
            try scanner.skipValue()
            values.set(.null, at: column)
            row.misfit = row.misfit ?? error
        }
    }

    /// Reads a name that is not the one expected, and its colon.
    private mutating func readName(after previous: Member) throws(JSONFault) -> Member {
        let name = try scanner.name()
        let guess = successors[previous]
        var member = scanner.withContent(of: name) { [members] in members.member(named: $0, guess: guess) }
        if member == members.unknown, !name.hasEscapes {
            member = members.learn(scanner.slice(name.start, name.end))
            if member == successors.count { successors.append(0) }
        }
        successors[previous] = member
        return member
    }

    private mutating func readOther(_ member: Member) throws(JSONFault) {
        if member == members.id {
            try readID()
        } else if member == members.deleted {
            try readDeleted()
        } else {
            try scanner.skipValue()
        }
    }

    /// A value of the wrong kind, first checked to be JSON at all.
    mutating func misplaced(
        _ kind: JSONFault.Kind, place: JSONFault.Place = .none
    ) throws(JSONFault) -> JSONFault {
        let start = scanner.position
        try scanner.skipValue()
        return JSONFault(kind: kind, offset: start, place: place)
    }
}
