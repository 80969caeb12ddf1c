internal import CLMDB
internal import Foundation
internal import TidelineStore

extension Environment {
    /// The size of the map, and the size of the file's pages in it, in bytes.
    var mapUsage: (size: Int, used: Int) {
        var information = MDB_envinfo()
        var statistics = MDB_stat()
        mdb_env_info(handle, &information)
        mdb_env_stat(handle, &statistics)
        return (information.me_mapsize, (information.me_last_pgno + 1) * Int(statistics.ms_psize))
    }

    /// Runs `body` while no other thread uses the map or can begin to use it.
    ///
    /// The caller may be in its own write transaction, and must ensure that this is safe.
    func withoutOthers<T>(
        within timeout: Duration, _ body: () throws(StoreError) -> T
    ) throws(StoreError) -> T {
        try lock.withExclusiveAccess(within: timeout, to: "grow its map", path: path, body)
    }

    /// Adopts the map size that another process set.
    func adoptMapSize(busyTimeout: Duration) throws(StoreError) {
        try withoutOthers(within: busyTimeout) { () throws(StoreError) in
            try setMapSize(0)
        }
    }

    /// Doubles the map; no other thread may access it.
    func growMap(to maximum: Int) throws(StoreError) {
        let (size, _) = mapUsage
        guard size < maximum else {
            throw error(MDB_MAP_FULL, "the map already has its maximum size of \(size) bytes")
        }
        try setMapSize(min(maximum, size * 2))
    }

    /// Sets the size of the map; 0 means the size recorded in the file.
    private func setMapSize(_ size: Int) throws(StoreError) {
        clearDeadReaders()
        // LMDB unmaps the old map before it requests the new one, and is unusable if that fails. So try the size first.
        guard size == 0 || Self.canMap(size) else {
            throw StoreError(.full, "there is not enough address space for a map of \(size) bytes", path: path)
        }
        let result = mdb_env_set_mapsize(handle, size)
        guard result == MDB_SUCCESS else {
            isBroken = true
            throw error(result, "the map could not be resized; close the store in this process, then open it again")
        }
    }

    private static func canMap(_ size: Int) -> Bool {
        let start = mmap(nil, size, PROT_NONE, MAP_PRIVATE | mapAnonymous, -1, 0)
        guard start != MAP_FAILED else { return false }
        munmap(start, size)
        return true
    }

    private static var mapAnonymous: Int32 {
        #if canImport(Darwin)
        MAP_ANON
        #else
        MAP_ANONYMOUS | MAP_NORESERVE
        #endif
    }
}
