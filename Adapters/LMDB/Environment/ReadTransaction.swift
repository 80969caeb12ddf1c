internal import CLMDB
internal import TidelineStore

/// A transaction of LMDB to read in, used again and again, with its cursors.
///
/// `@unchecked Sendable`: it is with one thread at a time, or in the turnstile's list of idle ones; LMDB does not tie
/// it to a thread (`MDB_NOTLS`).
final class ReadTransaction: @unchecked Sendable {
    let handle: OpaquePointer
    /// The environment's.
    let path: String
    /// The spaces there are in its snapshot.
    var spaces: SpaceTable
    private var cursors: [(space: MDB_dbi, cursor: OpaquePointer)] = []

    private static let maximumCursors = 8

    init(handle: OpaquePointer, path: String, spaces: SpaceTable) {
        self.handle = handle
        self.path = path
        self.spaces = spaces
    }

    /// Ends it, with its cursors.
    func end() {
        for (_, cursor) in cursors { mdb_cursor_close(cursor) }
        cursors = []
        mdb_txn_abort(handle)
    }

    /// Calls `body` with a cursor of a space; scans within scans have one each.
    func withCursor(in space: MDB_dbi, _ body: (OpaquePointer) throws -> Void) throws {
        let cursor = try takeCursor(in: space)
        defer {
            if cursors.count < Self.maximumCursors {
                cursors.append((space, cursor))
            } else {
                mdb_cursor_close(cursor)
            }
        }
        try body(cursor)
    }

    private func takeCursor(in space: MDB_dbi) throws(StoreError) -> OpaquePointer {
        if let index = cursors.lastIndex(where: { $0.space == space }) {
            let cursor = cursors.remove(at: index).cursor
            if mdb_cursor_renew(handle, cursor) == MDB_SUCCESS { return cursor }
            mdb_cursor_close(cursor)
        }
        var cursor: OpaquePointer?
        let result = mdb_cursor_open(handle, space, &cursor)
        guard result == MDB_SUCCESS, let cursor else {
            throw .lmdb(result, path: path, doing: "a scan could not begin")
        }
        return cursor
    }
}
