internal import CSQLite
internal import TidelineStore

/// A prepared statement. Like its connection, used by one thread at a time.
final class Statement {
    let handle: OpaquePointer
    let sql: String
    private let path: String?
    /// The buffer into which rows are packed, kept for the next execution.
    private var buffer: RowBuffer?

    init(_ sql: String, on database: OpaquePointer, path: String?) throws(StoreError) {
        var handle: OpaquePointer?
        var sqlText = sql
        let result = sqlText.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) {
                sqlite3_prepare_v3(
                    database, $0.baseAddress, Int32(clamping: $0.count), UInt32(SQLITE_PREPARE_PERSISTENT),
                    &handle, nil)
            }
        }
        guard result == SQLITE_OK, let handle else {
            var error = StoreError.sqlite(result, database, path: path, doing: "SQLite rejected a statement")
            // Statements name only tables and columns in the stored definitions, so a missing one means damage.
            if result == SQLITE_ERROR, error.message.contains("no such ") { error.code = .corrupt }
            throw error
        }
        self.handle = handle
        self.sql = sql
        self.path = path
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs to the next row; returns `false` if there are no more rows.
    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let result: throw failure(result)
        }
    }

    /// Runs a statement that returns no rows, and resets it for the next run.
    func run() throws(StoreError) {
        let result = sqlite3_step(handle)
        guard result == SQLITE_DONE || result == SQLITE_ROW else {
            let error = failure(result)
            sqlite3_reset(handle)
            throw error
        }
        sqlite3_reset(handle)
    }

    /// Ends the execution and keeps the bound values.
    func rewind() { sqlite3_reset(handle) }

    /// Ends the execution and clears the bound values.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// Returns the error for a result code of this statement.
    func failure(_ result: Int32) -> StoreError {
        StoreError.sqlite(result, sqlite3_db_handle(handle), path: path, doing: "SQLite failed")
    }

    // MARK: Binding

    /// Binds a copy of a value to a parameter, numbered from 1.
    private func bind(_ value: Value, at index: Int32) throws(StoreError) {
        let result =
            switch value {
            case .null: sqlite3_bind_null(handle, index)
            case .bool(let value): sqlite3_bind_int64(handle, index, value ? 1 : 0)
            case .int(let value): sqlite3_bind_int64(handle, index, value)
            case .double(let value): sqlite3_bind_double(handle, index, value)
            case .timestamp(let value): sqlite3_bind_int64(handle, index, value.ticks)
            case .bytes(let value):
                value.withUnsafeBytes { tideline_bind_blob(handle, index, $0.baseAddress, UInt64($0.count)) }
            case .string(var value), .json(var value):
                value.withUTF8 { tideline_bind_text(handle, index, $0.baseAddress, UInt64($0.count)) }
            }
        guard result == SQLITE_OK else { throw failure(result) }
    }

    /// Binds values to the parameters, starting at 1.
    func bind(_ values: [Value]) throws(StoreError) {
        for (index, value) in values.enumerated() { try bind(value, at: Int32(clamping: index + 1)) }
    }

    // MARK: Results

    /// Returns the integer in a column of the current row, numbered from 0.
    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// Returns the text in a column of the current row, or `nil` if it is null.
    func text(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_blob(handle, column) else {
            return sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : ""
        }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Returns the buffer for rows of these columns, reusing the one of the last execution if it matches.
    func rowBuffer(for shape: RowShape) -> RowBuffer {
        if let buffer, buffer.shape === shape { return buffer }
        let new = RowBuffer(for: shape)
        buffer = new
        return new
    }
}
