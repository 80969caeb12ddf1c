internal import CLMDB

/// LMDB's handles of the named databases, by the number of their key space.
///
/// Immutable, so that a reader keeps the table with which it began.
final class SpaceTable: Sendable {
    /// The handles of small space numbers. Zero, the handle of LMDB's own list of free pages, means no handle.
    private let near: [MDB_dbi]
    private let far: [UInt32: MDB_dbi]
    /// The number of spaces.
    let count: Int

    private static let nearLimit: UInt32 = 4096

    init(near: [MDB_dbi] = [], far: [UInt32: MDB_dbi] = [:], count: Int = 0) {
        self.near = near
        self.far = far
        self.count = count
    }

    subscript(space: UInt32) -> MDB_dbi? {
        if Int(space) < near.count {
            let handle = near[Int(space)]
            return handle == 0 ? nil : handle
        }
        return space < Self.nearLimit ? nil : far[space]
    }

    /// Returns this table with an additional space, which it must not contain yet.
    func adding(_ space: UInt32, _ handle: MDB_dbi) -> SpaceTable {
        var near = near
        var far = far
        if space < Self.nearLimit {
            if Int(space) >= near.count { near += Array(repeating: 0, count: Int(space) + 1 - near.count) }
            near[Int(space)] = handle
        } else {
            far[space] = handle
        }
        return SpaceTable(near: near, far: far, count: count + 1)
    }
}
