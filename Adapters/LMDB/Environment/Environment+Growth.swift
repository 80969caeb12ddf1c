internal import CLMDB
internal import Foundation
internal import TidelineStore

extension Environment {
    /// The size of the map, and the size of the file's pages in it, in bytes.
    var mapUsage: (size: Int, used: Int) { Self.mapUsage(of: handle) }

    private static func mapUsage(of handle: OpaquePointer) -> (size: Int, used: Int) {
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

    /// Makes the map large enough for a file that another process has enlarged.
    func adoptMapSize(busyTimeout: Duration) throws(StoreError) {
        try withoutOthers(within: busyTimeout) { () throws(StoreError) in
            try setMapSize(try Self.sizeForFile(of: handle, path))
        }
    }

    /// Returns a size of the map that suffices for the file, twice its size if there is address space for it.
    static func sizeForFile(of handle: OpaquePointer, _ path: String) throws(StoreError) -> Int {
        let (size, used) = mapUsage(of: handle)
        return used < size ? size : try mappable(above: used, upTo: used * 2, path)
    }

    /// Doubles the map, or enlarges it as far as there is address space; no other thread may access it.
    func growMap(to maximum: Int) throws(StoreError) {
        let (size, _) = mapUsage
        guard size < maximum else {
            throw error(MDB_MAP_FULL, "the map already has its maximum size of \(size) bytes")
        }
        clearDeadReaders()
        try setMapSize(try Self.mappable(above: size, upTo: min(maximum, size * 2), path))
    }

    /// Returns the size closest to `most` for which there is address space.
    ///
    /// LMDB unmaps the old map before it requests the new one, and is unusable if that fails. So the sizes are tried
    /// first.
    private static func mappable(above least: Int, upTo most: Int, _ path: String) throws(StoreError) -> Int {
        var extra = most - least
        while !canMap(least + extra) {
            extra /= 2
            guard extra >= 1 << 16 else {
                throw StoreError(
                    .full,
                    "there is not enough address space for a map of more than \(least) bytes; see LMDBOptions.mapSize",
                    path: path)
            }
        }
        return least + extra
    }

    private func setMapSize(_ size: Int) throws(StoreError) {
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
