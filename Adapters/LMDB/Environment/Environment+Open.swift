internal import CDispatch
internal import CLMDB
internal import Foundation
internal import TidelineStore

extension Environment {
    /// Opens or creates the files of a folder that this process does not have open.
    static func open(_ folder: Folder, _ options: LMDBOptions) throws(StoreError) -> Environment {
        let (environment, isClean, isMade) = try folder.locked(within: options.busyTimeout) { () throws(StoreError) in
            let isMade = try !exists(folder.dataPath)
            if isMade { try create(folder, options) }
            do throws(StoreError) {
                let isClean = isMade || CleanShutdownMarker.isClean(folder)
                if !isClean || isMade, options.verification != .never, !options.isReadOnly {
                    CleanShutdownMarker.reset(in: folder)
                }
                return (try openFiles(folder, options), isClean, isMade)
            } catch {
                if isMade { unlink(folder.dataPath) }
                throw error
            }
        }
        do throws(StoreError) {
            environment.clearDeadReaders()
            let isVerified = options.verification == .always || options.verification != .never && !isClean
            if isVerified { try environment.verify() }
            try environment.learnSpaces(busyTimeout: options.busyTimeout)
            environment.isIntact = isVerified || isClean
            environment.isNew = isMade
            return environment
        } catch {
            environment.close()
            throw error
        }
    }

    static func openFiles(_ folder: Folder, _ options: LMDBOptions) throws(StoreError) -> Environment {
        let heads = try FileHeads.read(try DataFile(folder.dataPath))
        let isLockMade = try makeLockFile(folder, options)
        do throws(StoreError) {
            return try Environment(folder, heads, options)
        } catch {
            if isLockMade { unlink(folder.lockPath) }
            throw error
        }
    }

    private convenience init(_ folder: Folder, _ heads: FileHeads, _ options: LMDBOptions) throws(StoreError) {
        let mapSize = min(max(options.mapSize, Int(clamping: heads.newest.mapSize)), options.maximumMapSize)
        var flags = MDB_NOTLS
        if options.isReadOnly { flags |= MDB_RDONLY }
        let handle = try Self.openHandle(
            folder.path, flags: flags, mapSize: mapSize, least: heads.bytesInUse, options)
        do throws(StoreError) {
            let main = try Self.openMain(handle, folder.path)
            self.init(handle: handle, folder: folder, isReadOnly: options.isReadOnly, main: main)
        } catch {
            mdb_env_close(handle)
            throw error
        }
    }

    /// Opens the files with a map of the given size, or with a smaller one if there is too little address space.
    ///
    /// - Parameter least: The size of the content.
    private static func openHandle(
        _ path: String, flags: Int32, mapSize: Int, least: Int, _ options: LMDBOptions
    ) throws(StoreError) -> OpaquePointer {
        let granule = max(1, Int(sysconf(Int32(_SC_PAGESIZE))))
        var size = max(mapSize, least, granule)
        while true {
            // The map size option can be any number; near the maximum of `Int`, round down.
            let rounded = min((size - 1) / granule, Int.max / granule - 1) * granule + granule
            do {
                return try openHandle(path, flags: flags, rounded: rounded, options)
            } catch {
                let smaller = max(size / 2, least)
                guard error.engineCode == Int(ENOMEM), smaller < size, smaller >= smallestMapSize else { throw error }
                size = smaller
            }
        }
    }

    private static let smallestMapSize = 1 << 20

    private static func openHandle(
        _ path: String, flags: Int32, rounded: Int, _ options: LMDBOptions
    ) throws(StoreError) -> OpaquePointer {
        var handle: OpaquePointer?
        var result = mdb_env_create(&handle)
        if result == MDB_SUCCESS { result = mdb_env_set_mapsize(handle, rounded) }
        if result == MDB_SUCCESS { result = mdb_env_set_maxdbs(handle, MDB_dbi(maximumSpaces)) }
        if result == MDB_SUCCESS {
            result = mdb_env_set_maxreaders(handle, UInt32(clamping: max(1, options.maximumReaders)))
        }
        if result == MDB_SUCCESS { result = mdb_env_open(handle, path, UInt32(flags), 0o666) }
        guard result == MDB_SUCCESS, let handle else {
            mdb_env_close(handle)
            throw openingError(result, path, mapSize: rounded, options)
        }
        guard mdb_env_get_maxkeysize(handle) >= FileLayout.maximumKeyLength else {
            mdb_env_close(handle)
            throw StoreError(
                .unsupported, "this build of LMDB limits keys to less than \(FileLayout.maximumKeyLength) bytes")
        }
        return handle
    }

    private static func openMain(_ handle: OpaquePointer, _ path: String) throws(StoreError) -> MDB_dbi {
        var transaction: OpaquePointer?
        var main: MDB_dbi = 0
        var result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        while result == MDB_MAP_RESIZED || result == MDB_READERS_FULL {
            // Another process grew the map after this one read its size, or entries of dead processes fill the reader
            // table.
            var dead: Int32 = 0
            mdb_reader_check(handle, &dead)
            guard result == MDB_MAP_RESIZED || dead > 0 else { break }
            if result == MDB_MAP_RESIZED { mdb_env_set_mapsize(handle, try sizeForFile(of: handle, path)) }
            result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        }
        if result == MDB_SUCCESS { result = mdb_dbi_open(transaction, nil, 0, &main) }
        if result == MDB_SUCCESS { result = mdb_txn_commit(transaction) } else { mdb_txn_abort(transaction) }
        guard result == MDB_SUCCESS else { throw .lmdb(result, path: path, doing: "the store could not be opened") }
        return main
    }

    private static func openingError(
        _ result: Int32, _ path: String, mapSize: Int, _ options: LMDBOptions
    ) -> StoreError {
        var error = StoreError.lmdb(result, path: path, doing: "the store could not be opened")
        switch result {
        case MDB_INVALID: error.message += "; another program created lock.mdb and has it open"
        case MDB_VERSION_MISMATCH: error.message += "; a program with another build of LMDB has it open"
        case ENOMEM: error.message += "; there is too little address space for a map of \(mapSize) bytes, its content"
        case EACCES where options.isReadOnly, EPERM where options.isReadOnly:
            error.code = .io
            error.message += "; readers need write permission for lock.mdb"
        default: break
        }
        return error
    }

    // MARK: Creation

    static func exists(_ path: String) throws(StoreError) -> Bool {
        var status = stat()
        if stat(path, &status) == 0 { return true }
        guard errno == ENOENT else { throw .opening(errno, path) }
        return false
    }

    /// Returns the folder in which a data file is created before it is moved to its final place.
    static func workshop(in folder: Folder) -> String { "\(folder.path)/.creating" }

    /// Creates an empty data file in a temporary folder, then moves it to its final place. The file therefore appears
    /// complete or not at all, and an empty or short one must have been truncated.
    private static func create(_ folder: Folder, _ options: LMDBOptions) throws(StoreError) {
        guard options.createsIfMissing, !options.isReadOnly else {
            throw StoreError(
                .io, "the folder contains no store, and the options do not allow creating one", path: folder.path)
        }
        try requireNoOtherFiles(folder.path)
        let workshop = workshop(in: folder)
        let draft = "\(workshop)/data.mdb"
        func clear() {
            unlink(draft)
            rmdir(workshop)
        }
        clear()
        guard mkdir(workshop, 0o777) == 0 else {
            throw .system(errno, path: folder.path, doing: "the store could not be created")
        }
        defer { clear() }
        do throws(StoreError) {
            mdb_env_close(
                try openHandle(
                    workshop, flags: MDB_NOTLS | MDB_NOLOCK, mapSize: min(options.mapSize, smallestMapSize), least: 0,
                    options))
            try sync(draft)
        } catch {
            // The draft is removed, so its path would be of no use.
            var error = error
            error.path = folder.path
            throw error
        }
        guard rename(draft, folder.dataPath) == 0 else {
            throw .system(errno, path: folder.path, doing: "the store could not be created")
        }
        folder.sync()
    }

    /// Throws an error if a folder contains files of another program, because the path may be a mistake. Names that
    /// begin with a dot belong to the system.
    static func requireNoOtherFiles(_ path: String) throws(StoreError) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let own = ["lock.mdb", CleanShutdownMarker.fileName, Folder.signalName]
        guard names.allSatisfy({ $0.hasPrefix(".") || own.contains($0) }) else {
            throw StoreError(
                .notAStore, "the folder contains other files and is not a store; choose another folder", path: path)
        }
    }

    private static func sync(_ path: String) throws(StoreError) {
        let descriptor = SystemCalls.open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .opening(errno, path) }
        defer { Foundation.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system(errno, path: path, doing: "the file could not be synced") }
    }

    /// Creates the lock file in its full size. LMDB would create it as a sparse file, and on a full disk, writing to a
    /// hole through the map crashes the process.
    ///
    /// - Returns: Whether it was created. A store for reading only that may not create it leaves that to LMDB, which
    ///   can do without it on a read-only file system.
    private static func makeLockFile(_ folder: Folder, _ options: LMDBOptions) throws(StoreError) -> Bool {
        let descriptor = SystemCalls.open(folder.lockPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            let error = errno
            if error == EEXIST || options.isReadOnly && [EROFS, EACCES, EPERM].contains(error) { return false }
            throw .system(error, path: folder.lockPath, doing: "the lock file could not be made")
        }
        defer { Foundation.close(descriptor) }
        // A cache line for each reader, and four for the header.
        let zeros = [UInt8](repeating: 0, count: (max(1, min(options.maximumReaders, 1 << 20)) + 4) * 64)
        let written = zeros.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == zeros.count else {
            let error = written < 0 ? errno : ENOSPC
            unlink(folder.lockPath)
            throw .system(error, path: folder.lockPath, doing: "the lock file could not be created")
        }
        return true
    }
}
