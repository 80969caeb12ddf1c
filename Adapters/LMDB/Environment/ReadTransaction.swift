internal import CLMDB
internal import TidelineStore

/// A reusable LMDB read transaction, with its cursors.
///
/// `@unchecked Sendable`: one thread at a time uses it, or it is idle and kept by the environment's lock. LMDB
/// does not bind it to a thread (`MDB_NOTLS`).
final class ReadTransaction: @unchecked Sendable {
    let handle: OpaquePointer
    let path: String
    /// See ``Environment/isUnlocked``.
    let isUnlocked: Bool
    /// The spaces in its snapshot.
    var spaces: SpaceTable
    private var cursors: [(space: MDB_dbi, cursor: OpaquePointer)] = []

    private static let maximumCursors = 8

    init(handle: OpaquePointer, path: String, isUnlocked: Bool, spaces: SpaceTable) {
        self.handle = handle
        self.path = path
        self.isUnlocked = isUnlocked
        self.spaces = spaces
    }

    /// Ends the transaction and its cursors.
    func end() {
        for (_, cursor) in cursors { mdb_cursor_close(cursor) }
        cursors = []
        mdb_txn_abort(handle)
    }

    /// Throws ``StoreError/Code/busy`` if the pages of the snapshot may have been replaced.
    func requireSnapshot() throws(StoreError) {
        if isUnlocked { try Environment.requireSnapshot(of: handle, path: path) }
    }

    /// Calls `body` with a cursor of a space; nested scans use different cursors.
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
            throw .lmdb(result, path: path, doing: "the scan could not start")
        }
        return cursor
    }
}
