internal import Foundation
internal import TidelineStore

/// The record of whether every process that wrote to a store has closed it, in a file beside the store's.
///
/// The record counts the processes that write. Each is added before its first transaction and removed when it closes
/// the store, so a killed process leaves a count above zero, which remains until a process opens the store alone and
/// verifies it. The last process to close the store syncs the data file and records its state. The record claims a
/// clean shutdown only if no process is counted and the data file still has that state: a file that another program
/// changed or that was restored from a copy has not.
///
/// The record is changed under the lock of the folder. A claim is invalidated on disk before the first transaction, so
/// no power loss can restore it.
struct CleanShutdownMarker {
    static let fileName = "tideline.state"
    /// The first word of the record, which names its format.
    private static let format: UInt64 = 0x3176_6C63_6C64_6974

    /// The number of processes that have written and not closed the store.
    private var writers: UInt64
    /// The state of the data file after a clean shutdown, or `nil` if there was none.
    private var state: [UInt64]?

    // MARK: Use

    /// Returns whether the last shutdown of a store was clean.
    static func isClean(_ folder: Folder) -> Bool {
        guard let marker = CleanShutdownMarker(in: folder), marker.writers == 0, let state = marker.state else {
            return false
        }
        return state == dataState(in: folder)
    }

    /// Removes the record of a store that was not shut down cleanly and will be verified, unless another process has it
    /// open. The caller holds the folder's lock, and this process does not have the store open.
    static func reset(in folder: Folder) {
        guard CleanShutdownMarker(in: folder) != nil, withoutOtherProcesses(folder, mayLackLock: true, {}) else {
            return
        }
        unlink(folder.markerPath)
        folder.sync()
    }

    /// Counts this process before its first transaction.
    ///
    /// - Throws: ``StoreError`` if the record claims a clean shutdown and cannot be changed.
    static func addWriter(in folder: Folder, within timeout: Duration) throws(StoreError) {
        try folder.locked(within: timeout) { () throws(StoreError) in
            let previous = CleanShutdownMarker(in: folder)
            let marker = CleanShutdownMarker(writers: (previous?.writers ?? 0) + 1, state: nil)
            let isClaimed = previous?.state != nil
            guard !marker.write(in: folder, isSynced: isClaimed), isClaimed else { return }
            let error = errno
            guard unlink(folder.markerPath) == 0 else {
                throw .system(error, path: folder.markerPath, doing: "the record of the shutdown could not be changed")
            }
            folder.sync()
        }
    }

    /// Records that this process has closed the store, and a clean shutdown if no other process has it open.
    ///
    /// - Parameters:
    ///   - isCounted: Whether this process was counted as a writer.
    ///   - isIntact: Whether this process knew the file to be intact when it opened it.
    static func close(_ folder: Folder, isCounted: Bool, isIntact: Bool) {
        // A failure leaves a record that claims less than it could.
        try? folder.locked(isCancellable: false) { () throws(StoreError) in
            guard isCounted || !isClean(folder) else { return }
            let previous = CleanShutdownMarker(in: folder)
            guard let writers = previous?.writers ?? (isCounted ? nil : 0), writers > 0 || !isCounted else { return }
            var marker = CleanShutdownMarker(writers: isCounted ? writers - 1 : writers, state: nil)
            if isIntact, marker.writers == 0 {
                _ = withoutOtherProcesses(folder, mayLackLock: false) {
                    if syncData(in: folder) { marker.state = dataState(in: folder) }
                }
            }
            if isCounted || marker.state != nil { _ = marker.write(in: folder, isSynced: false) }
        }
    }

    // MARK: File

    private init(writers: UInt64, state: [UInt64]?) {
        self.writers = writers
        self.state = state
    }

    /// Reads the record, or returns `nil` if there is none or it is damaged.
    private init?(in folder: Folder) {
        guard let content = FileManager.default.contents(atPath: folder.markerPath), content.count == 64 else {
            return nil
        }
        let words = content.withUnsafeBytes { bytes in
            (0..<8).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)) }
        }
        guard words[0] == Self.format, words[7] == Self.checksum(Array(words[..<7])) else { return nil }
        writers = words[1]
        let state = Array(words[2..<7])
        self.state = state.contains { $0 != 0 } ? state : nil
    }

    /// Writes the record in place, which needs no space on a full disk. Returns whether that succeeded; if not, `errno`
    /// is set.
    private func write(in folder: Folder, isSynced: Bool) -> Bool {
        let descriptor = SystemCalls.open(folder.markerPath, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return false }
        defer { Foundation.close(descriptor) }
        var words = [Self.format, writers] + (state ?? Array(repeating: 0, count: 5))
        words.append(Self.checksum(words))
        let count = words.map(\.littleEndian).withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        return count == 64 && (!isSynced || fsync(descriptor) == 0)
    }

    private static func checksum(_ words: [UInt64]) -> UInt64 {
        words.map(\.littleEndian).withUnsafeBytes { bytes in
            UInt64(Checksum.of(key: UnsafeRawBufferPointer(start: nil, count: 0), value: bytes))
        }
    }

    // MARK: Data file

    /// Returns the number of the newest transaction in the data file, its size, the time of its last change, and its
    /// identity; `nil` if it cannot be read or is damaged.
    private static func dataState(in folder: Folder) -> [UInt64]? {
        var status = stat()
        guard let heads = try? FileHeads.read(try DataFile(folder.dataPath)), stat(folder.dataPath, &status) == 0 else {
            return nil
        }
        #if canImport(Darwin)
        let changed = status.st_mtimespec
        #else
        let changed = status.st_mtim
        #endif
        return [
            UInt64(heads.newest.transaction), UInt64(truncatingIfNeeded: status.st_size),
            UInt64(truncatingIfNeeded: changed.tv_sec), UInt64(truncatingIfNeeded: changed.tv_nsec),
            UInt64(truncatingIfNeeded: status.st_ino),
        ]
    }

    /// Syncs the data file with a time of change that no later change can have: the system's own times have a
    /// resolution of milliseconds.
    private static func syncData(in folder: Folder) -> Bool {
        let descriptor = SystemCalls.open(folder.dataPath, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { Foundation.close(descriptor) }
        var now = timespec()
        guard clock_gettime(CLOCK_REALTIME, &now) == 0, futimens(descriptor, [now, now]) == 0 else { return false }
        return fsync(descriptor) == 0
    }

    /// Calls `body` while no process has the store open; returns `false` if one has.
    ///
    /// - Parameter mayLackLock: Whether a missing lock file means that no process has the store open.
    private static func withoutOtherProcesses(_ folder: Folder, mayLackLock: Bool, _ body: () -> Void) -> Bool {
        do {
            let lock = try LockFile(lockingOutOf: folder)
            guard lock != nil || mayLackLock else { return false }
            body()
            lock?.release()
            return true
        } catch {
            return false
        }
    }
}
