internal import TidelineStore

/// The locations of the rows in the response to a query, for readers that do not need ids or a table definition.
package struct JSONPage: Sendable, Hashable {
    /// The range of bytes of each row in the response.
    package private(set) var rows: [Range<Int>] = []
    /// The number of rows that match the query on the server, or `nil` if the response does not contain it.
    package private(set) var totalCount: Int64?
    /// The member `nextLink` of the response, or `nil` if the response does not contain it.
    package private(set) var nextLink: String?

    /// The maximum number of rows in a response. It is more than any server returns at once, and limits the memory use.
    package static let maximumRowCount = 131_072

    /// Finds the rows of a response: an array, `{"results":[…],"count":n}`, or
    /// `{"items":[…],"count":n,"nextLink":"…"}`. Other members are ignored.
    ///
    /// - Throws: ``WireError`` with the offset of the error: ``WireError/Code/malformedJSON`` or
    ///   ``WireError/Code/wrongShape``, also if there are more than ``maximumRowCount`` rows.
    package init(_ bytes: [UInt8]) throws(WireError) {
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
        default: throw try scanner.misplaced(.notAPage)
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
                case ("results", _) where hasResults, ("items", _) where hasResults:
                    throw scanner.fault(.repeatedResults)
                case ("results", UInt8(ascii: "[")), ("items", UInt8(ascii: "[")):
                    try readRows(&scanner)
                    hasResults = true
                case ("results", _), ("items", _): throw try scanner.misplaced(.notAPage)
                case ("nextLink", _): nextLink = try scanner.link()
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
            guard try scanner.token() == UInt8(ascii: "{") else { throw try scanner.misplaced(.notARow) }
            guard rows.count < Self.maximumRowCount else { throw scanner.fault(.tooManyRows) }
            let start = scanner.position
            try scanner.skipValue()
            rows.append(start..<scanner.position)
        } while try scanner.hasNext(before: UInt8(ascii: "]"))
    }
}

extension JSONScanner {
    /// Reads the member `nextLink` of a response. Treats an empty text, and any value other than a text, as absent.
    mutating func link() throws(JSONFault) -> String? {
        guard try token() == UInt8(ascii: "\"") else {
            try skipValue()
            return nil
        }
        let text = try string()
        guard let link = try? wholeText(text) else { throw JSONFault(kind: .invalidEscape, offset: text.start - 1) }
        return link.isEmpty ? nil : link
    }

    /// Reads the member `count` of a response. Treats null as absent.
    mutating func count() throws(JSONFault) -> Int64? {
        let byte = try token()
        let start = position
        if byte == UInt8(ascii: "n") {
            try expect(word: "null")
            return nil
        }
        guard byte == UInt8(ascii: "-") || byte &- 0x30 < 10 else { throw try misplaced(.invalidCount) }
        guard let count = try number().int, count >= 0 else { throw JSONFault(kind: .invalidCount, offset: start) }
        return count
    }
}
