/// What is wrong with something that came over the wire or was to go over it.
///
/// The ``code`` says what kind of fault it is, ``offset`` where it lies in the bytes or text that were read, the names
/// say what it concerns.
public struct WireError: Error, Sendable {
    /// What kind of fault this is.
    public var code: Code
    /// What was found and what was expected, for a person.
    public var message: String
    /// Where the fault lies: bytes from the beginning of the body or text that was read.
    public var offset: Int?
    /// The table at fault.
    public var table: String?
    /// The column at fault.
    public var column: String?
    /// The id of the row at fault.
    public var id: String?

    /// An error with a code, a message, and the place and names that apply.
    public init(
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

    /// The kinds of fault; open, so that a later version can add one.
    public struct Code: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// The bytes are not JSON: cut short, not UTF-8, or against the grammar. Ask again; a proxy may have answered.
        public static let malformedJSON = Code(rawValue: "malformedJSON")
        /// The bytes are JSON, but no row or page of rows. Check that the URL leads to a table service.
        public static let wrongShape = Code(rawValue: "wrongShape")
        /// A value does not fit its column. Fix the table's definition or the row.
        public static let invalidValue = Code(rawValue: "invalidValue")
        /// A row has no id. Fix the row, or the service that sent it.
        public static let missingID = Code(rawValue: "missingID")
        /// Two rows of one answer have the same id, if need be but for case. Fix the rows of the service.
        public static let duplicateID = Code(rawValue: "duplicateID")
        /// A filter or order could not be read, or cannot be said in the protocol. Fix the query.
        public static let invalidFilter = Code(rawValue: "invalidFilter")
        /// A request is not one of the protocol. Fix the request.
        public static let invalidRequest = Code(rawValue: "invalidRequest")
        /// An id breaks the rule for ids. Choose another.
        public static let invalidID = Code(rawValue: "invalidID")
    }
}

extension WireError: CustomStringConvertible {
    /// The message and all that is known, on one line.
    public var description: String {
        var place: [String] = []
        if let table { place.append("table \(table.debugDescription)") }
        if let column { place.append("column \(column.debugDescription)") }
        if let id { place.append("id \(id.debugDescription)") }
        if let offset { place.append("at offset \(offset)") }
        return "\(message) [\(([code.rawValue] + place).joined(separator: ", "))]"
    }
}
