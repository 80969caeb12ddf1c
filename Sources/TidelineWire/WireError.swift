/// An error in data that was received from the server or would be sent to it.
///
/// ``code`` is the kind of error. ``offset`` is its position in the bytes or text that were read. The other properties
/// name the table, column and row.
package struct WireError: Error, Sendable {
    /// The kind of error.
    package var code: Code
    /// A description of the value found and the value expected.
    package var message: String
    /// The offset of the error in bytes from the beginning of the body or text.
    package var offset: Int?
    /// The name of the table at fault.
    package var table: String?
    /// The name of the column at fault.
    package var column: String?
    /// The id of the row at fault.
    package var id: String?

    /// Creates an error with a code, a message, and the location and names that apply.
    package init(
        _ code: Code, _ message: String, offset: Int? = nil, table: String? = nil, column: String? = nil,
        id: String? = nil
    ) {
        self.code = code
        self.message = message
        self.offset = offset
        self.table = table
        self.column = column
        self.id = id
    }

    /// The message for two rows whose ids are equal but for case.
    package static func differingInCase(_ first: String, _ second: String) -> String {
        "the server has two rows whose ids differ only in case, \(first.debugDescription) and \(second.debugDescription); "
            + "delete one, or define the table with idMatching: .exact"
    }

    /// The kinds of errors. A later version may add kinds.
    package struct Code: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }
        package var description: String { rawValue }

        /// The bytes are not valid JSON: incomplete, not UTF-8, or against the grammar. Retry; a proxy may have
        /// responded.
        package static let malformedJSON = Code(rawValue: "malformedJSON")
        /// The bytes are JSON, but not a row or page of rows. Check that the URL is that of a table service.
        package static let wrongShape = Code(rawValue: "wrongShape")
        /// A value does not fit its column. Correct the table's definition or the row.
        package static let invalidValue = Code(rawValue: "invalidValue")
        /// A row has no id. Correct the row, or the service that sent it.
        package static let missingID = Code(rawValue: "missingID")
        /// Two rows of one response have the same id, possibly ignoring case. Correct the rows of the service.
        package static let duplicateID = Code(rawValue: "duplicateID")
        /// A filter or order cannot be parsed, or cannot be represented in the protocol. Correct the query.
        package static let invalidFilter = Code(rawValue: "invalidFilter")
        /// A request does not conform to the protocol. Correct the request.
        package static let invalidRequest = Code(rawValue: "invalidRequest")
        /// An id violates the rules for ids. Choose another id.
        package static let invalidID = Code(rawValue: "invalidID")
    }
}

extension WireError: CustomStringConvertible {
    /// The message and all known properties, on one line.
    package var description: String {
        var place: [String] = []
        if let table { place.append("table \(table.debugDescription)") }
        if let column { place.append("column \(column.debugDescription)") }
        if let id { place.append("id \(id.debugDescription)") }
        if let offset { place.append("at offset \(offset)") }
        return "\(message) [\(([code.rawValue] + place).joined(separator: ", "))]"
    }
}
