/// An error of a local store, in terms that are the same for every engine.
///
/// The ``code`` determines how the caller should respond, and the names locate the problem. The engine's own code is
/// also available.
public struct StoreError: Error, Sendable {
    /// The kind of failure.
    public var code: Code
    /// A description of the failure and how to resolve it.
    public var message: String
    /// The table in which the error occurred.
    public var table: String?
    /// The column in which the error occurred.
    public var column: String?
    /// The identifier of the row in which the error occurred.
    public var id: String?
    /// The file or folder in which the error occurred.
    public var path: String?
    /// The engine's own error code; for SQLite, its extended result code.
    public var engineCode: Int?
    /// The error that caused this one.
    public var cause: (any Error)?

    /// Creates an error with a code, a message, and the names that apply.
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

    /// The kinds of failure. The list is open, so that a later version can add one.
    public struct Code: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// The store was closed, or a reader or writer was used outside its scope. Fix the program.
        public static let closed = Code(rawValue: "closed")
        /// Another process or store has the files open, and this engine cannot share them. Close the other one.
        public static let locked = Code(rawValue: "locked")
        /// A lock could not be acquired within the time allowed. Try again.
        public static let busy = Code(rawValue: "busy")
        /// The table was never defined. Define it first.
        public static let noSuchTable = Code(rawValue: "noSuchTable")
        /// A definition is inconsistent with itself or with the stored one. Fix the definition.
        public static let schemaMismatch = Code(rawValue: "schemaMismatch")
        /// The store cannot have more tables and indexes; see ``StoreCapabilities/maximumTablesAndIndexes``. Define
        /// fewer.
        public static let tooManyTables = Code(rawValue: "tooManyTables")
        /// A value, column, or identifier does not fit the table. Fix the row.
        public static let invalidValue = Code(rawValue: "invalidValue")
        /// A stored value does not fit the property of the ``TableRecord`` that it is read into. Fix the type or the
        /// row.
        public static let unreadableRecord = Code(rawValue: "unreadableRecord")
        /// The query uses a feature that the store or query language does not support, or is inconsistent. Fix the
        /// query.
        public static let unsupportedQuery = Code(rawValue: "unsupportedQuery")
        /// The query took longer than ``StoreReader/limitTime`` allows. Add a condition or an index.
        public static let timeLimit = Code(rawValue: "timeLimit")
        /// The store does not have this capability.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The disk or the engine's map is full; the transaction was rolled back. Free up space, then try again.
        public static let full = Code(rawValue: "full")
        /// The store can be read but not written: it was opened for reading only, its medium is read-only, or there is
        /// no permission to write to its files or to create them in their folder. Grant the permission, or open it
        /// for reading only.
        public static let readOnly = Code(rawValue: "readOnly")
        /// The path contains no store: nothing there identifies itself as one. It may be another program's database, an
        /// empty file, or a store whose identifying bytes are damaged. Choose another path; if a store was there,
        /// restore it.
        public static let notAStore = Code(rawValue: "notAStore")
        /// The files identify themselves as a store and are damaged. Restore them, or delete them and pull again.
        public static let corrupt = Code(rawValue: "corrupt")
        /// The files were written by a later version. Update the program.
        public static let newerFormat = Code(rawValue: "newerFormat")
        /// The task was cancelled; nothing was written.
        public static let cancelled = Code(rawValue: "cancelled")
        /// Any other failure of the file system or engine: a missing folder, a file in the place of a folder or a
        /// folder in the place of a file, no permission to read. The message gives the reason; see
        /// ``StoreError/engineCode``.
        public static let io = Code(rawValue: "io")
    }
}

/// The cause of the error for a store that does not exist, if no file shows it.
package struct MissingStore: Error {
    package init() {}
}

extension StoreError.Code {
    /// Returns the code for a file or folder that the operating system denied access to.
    ///
    /// - Returns: ``readOnly`` if nothing exists at the path, so creating it was denied; otherwise ``io``, because the
    ///   existing file or folder cannot be read.
    package static func accessDenied(at path: String) -> Self {
        isMissing(path) ? .readOnly : .io
    }
}

extension StoreError {
    /// The error for a reader or writer that is used after its body returned.
    package static var bodyReturned: StoreError {
        StoreError(.closed, "a reader or writer was used after its body returned")
    }

    /// Creates the error for rows whose identifiers are of another type than the table's.
    package static func wrongIDType(in schema: TableSchema) -> StoreError {
        StoreError(
            .invalidValue, "the ids must be of type \(schema.idType.rawValue)", table: schema.name, column: "id")
    }

    /// Returns this error with its table set to the given name, unless it already names one.
    package func inTable(_ name: String) -> StoreError {
        var error = self
        error.table = table ?? name
        return error
    }
}

extension StoreError: CustomStringConvertible {
    /// The message followed by all available details, on one line.
    public var description: String {
        var place: [String] = []
        if let table { place.append("table \(table.debugDescription)") }
        if let column { place.append("column \(column.debugDescription)") }
        if let id { place.append("id \(id.debugDescription)") }
        return text(place)
    }

    /// The message without the table, column, and id, for errors that name these themselves.
    package var reason: String { text([]) }

    private func text(_ place: [String]) -> String {
        var place = [code.rawValue] + place
        if let path { place.append("at \(path)") }
        if let engineCode { place.append("engine code \(engineCode)") }
        return "\(message) [\(place.joined(separator: ", "))]"
    }
}
