#if PostgreSQL && Tool
import CPostgreSQL

/// A connection of another program to a database.
final class PlainConnection {
    private let handle: OpaquePointer

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(_ connection: String) throws {
        guard let handle = PQconnectdb(connection), PQstatus(handle) == CONNECTION_OK else {
            throw Failure(description: "no connection")
        }
        self.handle = handle
        tideline_silence(handle)
    }

    deinit { PQfinish(handle) }

    /// Runs SQL and returns the rows of the last statement as text, with `nil` for null.
    @discardableResult
    func query(_ sql: String) throws -> [[String?]] {
        let result = PQexec(handle, sql)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw Failure(description: String(cString: PQerrorMessage(handle)))
        }
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                PQgetisnull(result, row, column) != 0 ? nil : String(cString: PQgetvalue(result, row, column))
            }
        }
    }
}
#endif
