internal import CPostgreSQL
internal import TidelineStore

/// The codes of PostgreSQL's errors that the store distinguishes.
enum SQLState {
    static let uniqueViolation = "23505"
    static let undefinedTable = "42P01"
    static let undefinedColumn = "42703"
    static let undefinedSchema = "3F000"
    static let duplicateTable = "42P07"
    static let duplicateColumn = "42701"
    /// Such as of a type, of which each table has one.
    static let duplicateObject = "42710"
    static let duplicateSchema = "42P06"
    static let insufficientPrivilege = "42501"
    /// Such as of a server that was demoted.
    static let readOnlyTransaction = "25006"
    static let queryCanceled = "57014"
    /// Such as a row that is larger than a page.
    static let programLimitExceeded = "54000"

    /// The number that ``StoreError/engineCode`` has for a code: its five characters as digits of base 36.
    static func number(_ state: String) -> Int? { Int(state, radix: 36) }
}

extension StoreError {
    /// Creates the error for a failed result or, without a result, for a failed connection.
    ///
    /// Only the server's primary message is included: its details can contain values of rows.
    static func postgreSQL(
        _ result: OpaquePointer?, on connection: OpaquePointer, path: String, doing: String
    ) -> StoreError {
        guard let state = tideline_sqlstate(result).map({ String(cString: $0) }) else {
            let isLost = PQstatus(connection) == CONNECTION_BAD
            let detail = PQerrorMessage(connection).map { String(cString: $0).trimmedMessage } ?? ""
            return StoreError(
                .io, "\(doing): \(isLost ? "the connection to the server was lost; try again: " : "")\(detail)",
                path: path)
        }
        let detail = tideline_primary_message(result).map { String(cString: $0) } ?? ""
        let advice = state == SQLState.programLimitExceeded ? "; store several of its values in a JSON column" : ""
        return StoreError(
            Code(sqlState: state), "\(doing): \(detail) (SQLSTATE \(state))\(advice)", path: path,
            engineCode: SQLState.number(state))
    }

    /// Returns whether PostgreSQL reported this code.
    func hasState(_ states: String...) -> Bool { states.contains { SQLState.number($0) == engineCode } }

    /// Whether the server chose this transaction to end so that another one can go on.
    var isSerializationFailure: Bool { hasState("40001", "40P01") }
}

extension StoreError.Code {
    /// The classes of codes that say nothing about a row.
    private static let failures: Set = [
        "08", "0A", "0B", "24", "25", "26", "28", "2D", "34", "3D", "3F", "40", "42", "53", "55", "57", "58", "72",
        "F0", "HV", "XX",
    ]

    /// See "PostgreSQL Error Codes" in its manual.
    fileprivate init(sqlState: String) {
        self =
            switch sqlState {
            // Serialization failure, deadlock, lock not available, canceled by a timeout.
            case "40001", "40P01", "55P03", SQLState.queryCanceled: .busy
            case "53100", "53400": .full
            case SQLState.readOnlyTransaction, SQLState.insufficientPrivilege: .readOnly
            case "XX001", "XX002", SQLState.undefinedTable, SQLState.undefinedColumn, SQLState.undefinedSchema: .corrupt
            // The connection, the transaction, the statement, the resources, or the state of the server.
            case _ where Self.failures.contains(String(sqlState.prefix(2))): .io
            // A value, a constraint, a limit of the server such as the size of a row, or an exception of a trigger,
            // which can have any code. No row is stored, so a server can write the others of its transaction.
            default: .invalidValue
            }
    }
}

extension String {
    /// A message of libpq on one line.
    var trimmedMessage: String { split { $0.isNewline || $0 == "\t" }.joined(separator: " ") }
}
