/// What went wrong in a local store, in terms that are the same for every engine.
///
/// The ``code`` says what the caller should do; the names say where; the engine's own code is kept beside.
public struct StoreError: Error, Sendable {
    /// What kind of failure this is.
    public var code: Code
    /// What happened and what to do, for a person.
    public var message: String
    /// The table at fault.
    public var table: String?
    /// The column at fault.
    public var column: String?
    /// The id of the row at fault.
    public var id: String?
    /// The file or folder at fault.
    public var path: String?
    /// The engine's own error code (for SQLite its extended result code).
    public var engineCode: Int?
    /// The error that caused this one.
    public var cause: (any Error)?

    /// An error with a code, a message, and the names that apply.
    public init(
        _ code: Code, _ message: String, table: String? = nil, column: String? = nil, id: String? = nil,
        path: String? = nil, engineCode: Int? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.table = table
        self.column = column
        self.id = id
        self.path = path
        self.engineCode = engineCode
        self.cause = cause
    }

    /// The kinds of failure; open, so that a later version can add one.
    public struct Code: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// The store was closed, or a reader or writer was used after its scope. Fix the program.
        public static let closed = Code(rawValue: "closed")
        /// Another process or store holds the files and this engine cannot share them. Close the other.
        public static let locked = Code(rawValue: "locked")
        /// A lock was not had within the time allowed. Try again.
        public static let busy = Code(rawValue: "busy")
        /// The table was never defined. Define it first.
        public static let noSuchTable = Code(rawValue: "noSuchTable")
        /// A definition contradicts itself or what is stored. Fix the definition.
        public static let schemaMismatch = Code(rawValue: "schemaMismatch")
        /// A value, column or id does not fit the table. Fix the row.
        public static let invalidValue = Code(rawValue: "invalidValue")
        /// The query asks for what this store or query language does not know, or contradicts itself. Fix the query.
        public static let unsupportedQuery = Code(rawValue: "unsupportedQuery")
        /// The store declares this capability off.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The disk or the engine's map is full; the transaction was rolled back. Make room, then try again.
        public static let full = Code(rawValue: "full")
        /// The store or its medium is read-only.
        public static let readOnly = Code(rawValue: "readOnly")
        /// The files are damaged or are not a store's. Restore them, or begin anew.
        public static let corrupt = Code(rawValue: "corrupt")
        /// The files were written by a later version. Update the program.
        public static let newerFormat = Code(rawValue: "newerFormat")
        /// The task was cancelled; nothing was written.
        public static let cancelled = Code(rawValue: "cancelled")
        /// Any other failure of the file system or engine; see ``StoreError/engineCode``.
        public static let io = Code(rawValue: "io")
    }
}

extension StoreError: CustomStringConvertible {
    /// The message and all that is known, on one line.
    public var description: String {
        var place: [String] = []
        if let table { place.append("table \(table.debugDescription)") }
        if let column { place.append("column \(column.debugDescription)") }
        if let id { place.append("id \(id.debugDescription)") }
        return text(place)
    }

    /// The message without table, column and id, for an error that names these itself.
    package var reason: String { text([]) }

    private func text(_ place: [String]) -> String {
        var place = [code.rawValue] + place
        if let path { place.append("at \(path)") }
        if let engineCode { place.append("engine code \(engineCode)") }
        return "\(message) [\(place.joined(separator: ", "))]"
    }
}
