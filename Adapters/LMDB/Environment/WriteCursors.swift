internal import CLMDB

/// The cursors by which a transaction writes, one for each of the spaces written to last.
///
/// A cursor stays at the page where it was: what is written beside the last change, or in its place, is found there without
/// a search from the root. LMDB moves cursors along with what other changes move.
struct WriteCursors {
    private var cursors: [(space: MDB_dbi, cursor: OpaquePointer)] = []
    /// A bit for the spaces written to, which some have in common.
    private var met: UInt64 = 0

    /// So few that to look one up takes no time, and enough for a table with its indexes.
    private static let maximum = 8

    /// Whether a space is worth a cursor: not yet for the first change, which is most often the only one.
    mutating func keepsOne(of space: MDB_dbi) -> Bool {
        let bit: UInt64 = 1 &<< UInt64(space)
        defer { met |= bit }
        return met & bit != 0
    }

    /// Gives the cursor of a space, which is opened where there is none; one of LMDB's results.
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

    /// After the transaction ended, which ends its cursors.
    mutating func forget() { cursors.removeAll(keepingCapacity: true) }
}
