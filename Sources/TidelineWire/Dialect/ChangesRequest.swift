internal import HTTPTypes

/// A request for the changes of tables, `/.changes?tables=A,B&since=CURSOR&wait=SECONDS`, which both dialects share.
///
/// The server answers with a ``ChangesAnswer`` as soon as one of the tables has changes after the cursor, or after the
/// wait.
package struct ChangesRequest: Sendable, Hashable {
    /// The path of the signal, relative to the address of the server.
    package static let path = ".changes"
    /// The maximum number of tables in a request.
    package static let maximumTables = 100

    /// The names of the tables, each once.
    package var tables: [String]
    /// The cursor of the answer before, or `nil` for an answer at once.
    package var cursor: String?
    /// The maximum time in seconds that the server waits, or `nil` if the server chooses it.
    package var wait: Int?

    /// Creates a request.
    package init(tables: [String], cursor: String? = nil, wait: Int? = nil) {
        self.tables = tables
        self.cursor = cursor
        self.wait = wait
    }

    /// The percent-encoded path and query, relative to the address of the server.
    package var target: String {
        // A comma separates names, so one within a name is encoded.
        var text = Self.path + "?tables=" + tables.map { PercentEncoding.encode($0) }.joined(separator: ",")
        if let cursor { text += "&since=" + PercentEncoding.encode(cursor) }
        if let wait { text += "&wait=\(wait)" }
        return text
    }

    /// Returns whether the target of a request has the path of the signal. The leading slash is optional.
    package static func isTarget(_ target: String) -> Bool {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        return path.elementsEqual(Self.path.utf8) || path.elementsEqual("/\(Self.path)".utf8)
    }

    /// Parses the target of a request. Parameters that are not of the signal are ignored.
    ///
    /// - Throws: ``RequestRejection`` with status 400.
    package init(target: String) throws(RequestRejection) {
        tables = []
        for (_, name, value) in PercentEncoding.parameters(of: target[...]) {
            switch try PercentEncoding.decoded(name) {
            case "tables": try add(value)
            case "since": cursor = try PercentEncoding.decoded(value)
            case "wait":
                guard let seconds = Int(value), seconds >= 0, value.utf8.allSatisfy(\.isDigit) else {
                    throw RequestRejection(.badRequest, "wait must be a whole number of seconds that is not negative")
                }
                wait = seconds
            default: break
            }
        }
        guard !tables.isEmpty else {
            throw RequestRejection(.badRequest, "the parameter tables is required: the names, separated by commas")
        }
    }

    private mutating func add(_ names: Substring) throws(RequestRejection) {
        for part in names.split(separator: ",", omittingEmptySubsequences: false) {
            let name = try PercentEncoding.decoded(part)
            guard !name.isEmpty else { throw RequestRejection(.badRequest, "the parameter tables has an empty name") }
            guard !tables.contains(name) else { continue }
            guard tables.count < Self.maximumTables else {
                throw RequestRejection(
                    .badRequest, "the parameter tables has more than \(Self.maximumTables) names; make several requests"
                )
            }
            tables.append(name)
        }
    }
}

/// The answer to a ``ChangesRequest``.
package struct ChangesAnswer: Codable, Sendable, Hashable {
    /// A table that has changed.
    package struct Change: Codable, Sendable, Hashable {
        /// The name of the table, as in the request.
        package var table: String
        /// The `updatedAt` of the newest change of the table, in ISO 8601 format.
        package var updatedAt: String

        /// Creates a change.
        package init(table: String, updatedAt: String) {
            self.table = table
            self.updatedAt = updatedAt
        }
    }

    /// The position after these changes, for the next request: an opaque text.
    package var cursor: String
    /// The tables that have changed since the cursor of the request, or all that have rows if it had none.
    package var changes: [Change]

    /// Creates an answer.
    package init(cursor: String, changes: [Change]) {
        self.cursor = cursor
        self.changes = changes
    }
}

/// The body of a refusal that concerns one of several tables.
package struct ChangesRefusal: Codable, Sendable, Hashable {
    /// The reason.
    package var error: String
    /// The name of the table, as in the request.
    package var table: String

    /// Creates a refusal.
    package init(error: String, table: String) {
        self.error = error
        self.table = table
    }
}
