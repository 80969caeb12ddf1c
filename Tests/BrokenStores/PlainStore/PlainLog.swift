internal import Foundation
internal import TidelineConformance
internal import TidelineStore

/// The file of a ``PlainStore``: two slots with the length of the valid part, followed by a record for each commit.
///
/// A record is written and synced before a slot is updated. The slots alternate, so that one slot is intact after a
/// power loss. A record within the valid part must be intact, or the file is damaged. Records beyond it are read as far
/// as they are intact, and are overwritten otherwise.
///
/// `@unchecked Sendable`: the store's gate admits one writer at a time, and closes the file after the last access.
final class PlainLog: @unchecked Sendable {
    static let fileName = "plain.log"
    static let headerSize = 64
    private static let version: UInt64 = 1
    /// The bytes that each slot begins with.
    private static let mark = Array("tideline".utf8)
    let path: String
    private let flaw: Flaw?
    private let maximumSize: Int
    private let file: PlainFile
    /// The offset of the next record.
    private var end = PlainLog.headerSize
    private var slot = 0
    /// Whether the file had commits when it was opened.
    private var isReopened = false
    /// The log is compacted above this size.
    private var longSize: Int
    private static let leastLongSize = 1 << 20
    /// Records that a flawed store writes later.
    private var pending: [UInt8] = []
    /// Whether several stores and processes have the file open.
    private let isShared: Bool

    init(_ opening: StoreOpening, flaw: Flaw?, isShared: Bool) throws {
        self.isShared = isShared
        path = flaw?.path(in: opening.directory) ?? "\(opening.directory)/\(Self.fileName)"
        self.flaw = flaw
        maximumSize = opening.maximumSize ?? .max
        longSize = min(maximumSize, Self.leastLongSize)
        let mayCreate = opening.access == .readWrite || flaw == .existingIsMade
        file = try PlainFile(
            path, mayCreate: mayCreate, isReadOnly: opening.access == .readOnly, isShared: isShared, flaw: flaw
        ) {
            PlainLog.slotBytes(end: PlainLog.headerSize) + [UInt8](repeating: 0, count: 32)
        }
    }

    func close() throws {
        if !pending.isEmpty, flaw == .writtenWhenClosed { try file.write(pending, at: end) }
        if flaw != .fileLeftOpen { try file.close() }
    }

    // MARK: Reading

    /// Calls `body` with every change of every commit.
    func replay(_ body: (PlainChange) throws -> Void) throws {
        let bytes = try file.readAll()
        let valid = try validEnd(bytes)
        // Another process may be writing the record behind the valid part.
        while !isShared || end < valid, let payload = try record(at: end, in: bytes, mustBeWhole: end < valid) {
            var decoder = PlainDecoder(payload, path: path)
            while !decoder.isAtEnd {
                guard let change = flaw == .cutRecordRead ? try? decoder.change() : try decoder.change() else { return }
                try body(change)
            }
            end += 16 + payload.count
        }
        isReopened = end > Self.headerSize
        if flaw == .reopenedFileOverwritten { end = Self.headerSize }
        guard end >= valid || flaw == .reopenedFileOverwritten else { throw damage("it ends before byte \(valid)") }
    }

    /// Calls `body` with every change that another store committed since the last call; returns whether there is one.
    func replayOthers(_ body: (PlainChange) throws -> Void) throws -> Bool {
        let valid = try validEnd(try file.read(PlainLog.headerSize))
        guard valid > end else { return false }
        try replay(body)
        return true
    }

    /// Waits until no other store writes, and keeps others from writing until ``unlock()``.
    func lock() throws { try file.lock() }
    func unlock() { file.unlock() }

    /// Returns the length of the valid part according to the slots.
    private func validEnd(_ bytes: [UInt8]) throws -> Int {
        guard bytes.starts(with: Self.mark) || bytes.dropFirst(32).starts(with: Self.mark) else {
            throw StoreError(
                flaw == .foreignFileIsCalledCorrupt ? .corrupt : .notAStore,
                "the file is not a store; choose another folder", path: path)
        }
        guard bytes.count >= Self.headerSize else { throw damage("it is too short") }
        let ends = [0, 1].map { slot in Self.end(inSlot: Array(bytes[slot * 32..<slot * 32 + 32])) }
        guard let last = ends.compactMap({ $0 }).max() else { throw damage("its beginning is not a store's") }
        slot = ends[0] == last ? 1 : 0
        let version = number(bytes[((1 - slot) * 32 + 16)...].prefix(8))
        guard version <= Self.version || flaw == .newerFormatRead else {
            throw StoreError(.newerFormat, "the file has the format \(version); update the app", path: path)
        }
        return last
    }

    /// Returns the record at an offset, or `nil` if there is none or only an incomplete one that may be ignored.
    private func record(at offset: Int, in bytes: [UInt8], mustBeWhole: Bool) throws -> [UInt8]? {
        let rest = bytes[min(offset, bytes.count)...]
        let length = rest.count >= 16 ? Int(truncatingIfNeeded: number(rest.prefix(8))) : -1
        guard length > 0, length <= rest.count - 16 else {
            if flaw == .cutRecordRead, length > 0 { return Array(rest.dropFirst(16)) }
            if mustBeWhole { throw damage("the record at byte \(offset) is cut off") }
            return nil
        }
        let payload = Array(rest.dropFirst(16).prefix(length))
        guard number(rest.dropFirst(8).prefix(8)) == Self.checksum(payload) || flaw == .checksumNotCompared else {
            if mustBeWhole { throw damage("the record at byte \(offset) has another checksum") }
            return nil
        }
        return payload
    }

    // MARK: Writing

    /// Writes a commit, so that it survives a power loss.
    /// - Parameter state: The tables without the commit, which replace the log when it has grown too long.
    func append(_ changes: [PlainChange], to state: PlainState) throws {
        let record = try record(of: flaw?.logged(changes) ?? changes)
        if end + record.count > longSize, !isShared, flaw?.compacts(state) ?? true { try tidy(state) }
        // Deletions free space, so they must succeed without it.
        guard end + record.count <= maximumSize || changes.allSatisfy(\.isRemoval) else {
            throw StoreError(flaw == .fullIsCalledIO ? .io : .full, "the store has reached its size", path: path)
        }
        let held = pending
        if flaw == .writtenWhenClosed || flaw == .lastCommitWrittenLater { pending += record }
        if flaw == .writtenWhenClosed { return }
        try write(flaw == .lastCommitWrittenLater ? held : record)
        if flaw == .lastCommitWrittenLater { pending = record }
    }

    /// Replaces the log with the current contents of the tables.
    private func tidy(_ state: PlainState) throws {
        let record = state.changes.isEmpty ? [] : try record(of: state.changes)
        let size = Self.headerSize + record.count
        try file.replace(with: Self.slotBytes(end: size) + [UInt8](repeating: 0, count: 32) + record)
        end = size
        slot = 1
        longSize = min(maximumSize, max(Self.leastLongSize, 4 * size))
    }

    private func record(of changes: [PlainChange]) throws -> [UInt8] {
        var payload = PlainEncoder()
        for change in changes { try payload.append(change) }
        return number(UInt64(payload.bytes.count)) + number(Self.checksum(payload.bytes)) + payload.bytes
    }

    private func write(_ record: [UInt8]) throws {
        do {
            try file.write(record, at: end)
            // Without a sync, the record is behind the valid part.
            if flaw?.syncs(record, isReopened: isReopened) ?? true {
                try file.synchronize()
                try file.write(Self.slotBytes(end: end + record.count), at: slot * 32)
                try file.synchronize()
                slot = 1 - slot
            }
        } catch {
            // The failed record must be ignored when the file is opened again; the next one overwrites it.
            try? file.write(Self.slotBytes(end: end), at: slot * 32)
            try? file.truncate(to: end)
            throw error
        }
        end += record.count
    }

    // MARK: Bytes

    private static func slotBytes(end: Int) -> [UInt8] {
        let content = mark + number(UInt64(end)) + number(version)
        return content + number(checksum(content))
    }

    private static func end(inSlot bytes: [UInt8]) -> Int? {
        guard bytes.starts(with: mark), number(bytes[24...]) == checksum(Array(bytes[..<24])) else { return nil }
        return Int(truncatingIfNeeded: number(bytes[8..<16]))
    }

    private func damage(_ message: String) -> StoreError {
        StoreError(
            flaw == .damageIsCalledIO ? .io : .corrupt, "the file is damaged: \(message); restore it", path: path)
    }

    /// Returns the FNV-1a hash.
    private static func checksum(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBufferPointer { bytes in
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for index in 0..<bytes.count { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
            return hash
        }
    }
}

/// Returns eight little-endian bytes.
func number(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }

/// Returns the number in eight little-endian bytes.
func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
