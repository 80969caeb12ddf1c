internal import CLMDB

/// The cursors with which a transaction writes, one for each of the spaces written most recently.
///
/// A cursor stays on its page, so a change next to the last one, or in its place, needs no search from the root. LMDB
/// adjusts cursors when other changes move their entries.
struct WriteCursors {
    private var cursors: [(space: MDB_dbi, cursor: OpaquePointer)] = []
    /// A bit for each space written to; several spaces can share a bit.
    private var met: UInt64 = 0

    /// Few enough for a fast lookup, and enough for a table with its indexes.
    private static let maximum = 8

    /// Returns whether a space should have a cursor. The first change does not create one, because it is usually the
    /// only one.
    mutating func keepsOne(of space: MDB_dbi) -> Bool {
        let bit: UInt64 = 1 &<< UInt64(space)
        defer { met |= bit }
        return met & bit != 0
    }

    /// Sets `cursor` to the cursor of a space, which is opened if necessary. Returns an LMDB result code.
    mutating func take(_ space: MDB_dbi, in transaction: OpaquePointer, _ cursor: inout OpaquePointer?) -> Int32 {
        for known in cursors where known.space == space {
            cursor = known.cursor
            return MDB_SUCCESS
        }
        let result = mdb_cursor_open(transaction, space, &cursor)
        guard result == MDB_SUCCESS, let cursor else { return result }
        if cursors.count == Self.maximum { mdb_cursor_close(cursors.removeFirst().cursor) }
        cursors.append((space, cursor))
        return MDB_SUCCESS
    }

    /// Removes all cursors; called after the end of the transaction, which closes them.
    mutating func forget() { cursors.removeAll(keepingCapacity: true) }
}
