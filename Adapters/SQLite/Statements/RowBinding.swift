internal import CSQLite
internal import TidelineStore

extension OpaquePointer {
    /// Binds an id in place to a parameter of this statement.
    @inline(__always)
    func bindID(_ bytes: UnsafeRawBufferPointer, _ type: TableSchema.IDType, to parameter: Int32 = 1) -> Int32 {
        type == .string
            ? tideline_bind_static_text(self, parameter, bytes.baseAddress, UInt64(bytes.count))
            : sqlite3_bind_int64(self, parameter, Int64(littleEndian: bytes.loadUnaligned(as: Int64.self)))
    }

    /// Binds a value in place to a parameter of this statement. Rejects NaN, which SQLite would store as null.
    @inline(__always)
    func bind(_ tag: RowTag, _ bytes: UnsafeRawBufferPointer, to parameter: Int32) -> Int32 {
        switch tag {
        case .absent, .null: return sqlite3_bind_null(self, parameter)
        case .false: return sqlite3_bind_int64(self, parameter, 0)
        case .true: return sqlite3_bind_int64(self, parameter, 1)
        case .int, .timestamp:
            return sqlite3_bind_int64(self, parameter, Int64(littleEndian: bytes.loadUnaligned(as: Int64.self)))
        case .double:
            let double = Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)))
            return double.isNaN ? SQLITE_MISMATCH : sqlite3_bind_double(self, parameter, double)
        case .string, .json:
            return tideline_bind_static_text(self, parameter, bytes.baseAddress, UInt64(bytes.count))
        case .bytes: return tideline_bind_static_blob(self, parameter, bytes.baseAddress, UInt64(bytes.count))
        }
    }
}

extension Statement {
    /// Calls `body` with the id bound to the only parameter in place, without a copy.
    @inline(__always)
    func withBoundID<T>(_ id: RowID, _ body: () throws -> T) throws -> T {
        switch id {
        case .int(let number):
            let result = sqlite3_bind_int64(handle, 1, number)
            guard result == SQLITE_OK else { throw failure(result) }
            return try body()
        case .string(var text):
            return try text.withUTF8 { bytes in
                let result = tideline_bind_static_text(handle, 1, bytes.baseAddress, UInt64(bytes.count))
                guard result == SQLITE_OK else { throw failure(result) }
                return try body()
            }
        }
    }

    /// Runs a statement that writes a row, and names the row in an error.
    @inline(__always)
    func run(for row: borrowing RowView, in table: StoredTable) throws(StoreError) {
        do throws(StoreError) {
            try run()
        } catch {
            throw error.naming(row, in: table)
        }
    }
}

extension StoreError {
    /// Returns the error with the row that it concerns.
    func naming(_ row: borrowing RowView, in table: StoredTable) -> StoreError {
        var error = self
        (error.table, error.id) = (table.name, row.idText)
        return error
    }
}
