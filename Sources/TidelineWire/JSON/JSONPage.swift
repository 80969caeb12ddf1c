/// Where the rows of an answer to a query lie, for readers that need no ids and no definition of the table.
public struct JSONPage: Sendable, Hashable {
    /// The bytes of each row in the answer.
    public private(set) var rows: [Range<Int>] = []
    /// The number of rows that match the query on the server, when the answer says so.
    public private(set) var totalCount: Int64?

    /// The greatest number of rows in an answer: more than any server gives at once, and few enough for the memory.
    public static let maximumRowCount = 131_072

    /// Finds the rows of an answer: a bare array, or `{"results":[…],"count":n}` with other members ignored.
    ///
    /// - Throws: ``WireError`` with the offset of the fault: ``WireError/Code/malformedJSON``,
    ///   ``WireError/Code/wrongShape``, also for more than ``maximumRowCount`` rows.
    public init(_ bytes: [UInt8]) throws(WireError) {
        do {
            try bytes.withUnsafeBufferPointer { bytes throws(JSONFault) in
                var scanner = JSONScanner(UnsafeRawBufferPointer(bytes))
                try read(&scanner)
                try scanner.expectEnd()
            }
        } catch {
            throw WireError(error.kind.code, error.kind.message(expecting: .json), offset: error.offset)
        }
    }

    private mutating func read(_ scanner: inout JSONScanner) throws(JSONFault) {
        switch try scanner.token() {
        case UInt8(ascii: "["): try readRows(&scanner)
        case UInt8(ascii: "{"): try readMembers(&scanner)
        default: throw try Self.misplaced(.notAPage, &scanner)
        }
    }

    private mutating func readMembers(_ scanner: inout JSONScanner) throws(JSONFault) {
        let start = scanner.position
        var hasResults = false
        try scanner.open()
        if try scanner.hasFirst(before: UInt8(ascii: "}")) {
            repeat {
                let name = scanner.text(try scanner.name())
                switch (name, try scanner.token()) {
                case ("results", _) where hasResults: throw scanner.fault(.repeatedResults)
                case ("results", UInt8(ascii: "[")):
                    try readRows(&scanner)
                    hasResults = true
                case ("results", _): throw try Self.misplaced(.notAPage, &scanner)
                case ("count", _): totalCount = try scanner.count()
                default: try scanner.skipValue()
                }
            } while try scanner.hasNext(before: UInt8(ascii: "}"))
        }
        guard hasResults else { throw JSONFault(kind: .noResults, offset: start) }
    }

    private mutating func readRows(_ scanner: inout JSONScanner) throws(JSONFault) {
        try scanner.open()
        guard try scanner.hasFirst(before: UInt8(ascii: "]")) else { return }
        repeat {
            guard try scanner.token() == UInt8(ascii: "{") else { throw try Self.misplaced(.notARow, &scanner) }
            guard rows.count < Self.maximumRowCount else { throw scanner.fault(.tooManyRows) }
            let start = scanner.position
            try scanner.skipValue()
            rows.append(start..<scanner.position)
        } while try scanner.hasNext(before: UInt8(ascii: "]"))
    }

    /// A value of the wrong kind, first checked to be JSON at all.
    private static func misplaced(
        _ kind: JSONFault.Kind, _ scanner: inout JSONScanner
    ) throws(JSONFault) -> JSONFault {
        let fault = scanner.fault(kind)
        try scanner.skipValue()
        return fault
    }
}

extension JSONScanner {
    /// Reads the member `count` of an answer; null counts as absent.
    mutating func count() throws(JSONFault) -> Int64? {
        let start = position
        let byte = try token()
        if byte == UInt8(ascii: "n") {
            try expect(word: "null")
            return nil
        }
        guard byte == UInt8(ascii: "-") || byte &- 0x30 < 10 else {
            try skipValue()
            throw JSONFault(kind: .invalidCount, offset: start)
        }
        guard let count = try number().int, count >= 0 else { throw JSONFault(kind: .invalidCount, offset: start) }
        return count
    }
}
