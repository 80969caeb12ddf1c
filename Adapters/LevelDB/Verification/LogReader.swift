internal import Foundation
internal import TidelineStore

/// A record of a log.
struct LogRecord {
    /// The start and end offsets in the file.
    var start = 0
    var end = 0
    /// The bytes of the record, up to the requested number.
    var bytes: [UInt8] = []
}

/// Reads a file of records, LevelDB's log or manifest, and reports all damage.
///
/// LevelDB's own reader silently skips a run of zeros, and drops the rest of the last block if a length in it points
/// past the end. This reader treats a file as truncated, as after a killed process, only if there is no other
/// explanation; anything else that is not a complete record is damage.
///
/// A file consists of blocks of 32 KiB. A record is one fragment, or a first, middle and last fragment over several
/// blocks. A fragment has a header of 7 bytes: masked CRC-32C of type and content, 16-bit length, type; all
/// little-endian. No header crosses the end of a block.
struct LogReader {
    private static let blockSize = 32_768
    private static let headerSize = 7
    /// The size that a disk writes atomically.
    private static let sectorSize = 512

    private enum Kind: UInt8 {
        case full = 1
        case first, middle, last
    }
    private struct Fragment {
        var kind: Kind
        var start: Int
        var content: Range<Int>
    }

    private let file: FileHandle
    private let path: String
    /// The number of bytes of each record to keep.
    private let limit: Int
    private var block: [UInt8] = []
    private var blockStart = 0
    private var position = 0
    private var isLastBlock = false
    /// A description of the damage, after the reader has reached it.
    private(set) var damage: String?
    /// Whether the damaged part looks unwritten: zeros up to the end of a sector.
    private(set) var isUnwritten = false

    init(_ path: String, keeping limit: Int = .max) throws(StoreError) {
        guard let file = try FileHandle.reading(path) else { throw .damaged(path, "the file does not exist") }
        self.file = file
        self.path = path
        self.limit = limit
    }

    /// Returns the next complete record, or `nil` at the end, where the file was truncated, or at damage.
    mutating func next() throws(StoreError) -> LogRecord? {
        var record = LogRecord()
        var isWithin = false
        while let fragment = try nextFragment() {
            guard isWithin == (fragment.kind == .middle || fragment.kind == .last) else {
                damage = "the record at byte \(blockStart + fragment.start) is incomplete"
                return nil
            }
            if !isWithin { record.start = blockStart + fragment.start }
            isWithin = true
            record.bytes += block[fragment.content].prefix(limit - record.bytes.count)
            guard fragment.kind == .full || fragment.kind == .last else { continue }
            record.end = blockStart + fragment.content.upperBound
            return record
        }
        return nil
    }

    private mutating func nextFragment() throws(StoreError) -> Fragment? {
        while block.count - position < Self.headerSize {
            if isLastBlock { return nil }
            try readBlock()
        }
        let content = position + Self.headerSize
        let length = contentLength(at: position)
        guard content + length <= block.count else {
            if content + length > Self.blockSize || !isCut(at: position) { meetDamage("the length", content + length) }
            return nil
        }
        guard let kind = Kind(rawValue: block[position + 6]), hasChecksum(at: position, length) else {
            meetDamage("the checksum", content + length)
            return nil
        }
        defer { position = content + length }
        return Fragment(kind: kind, start: position, content: content..<(content + length))
    }

    /// Records damage to the current fragment, which should end at `end`.
    private mutating func meetDamage(_ what: String, _ end: Int) {
        damage = "\(what) at byte \(blockStart + position) is wrong"
        var start = position
        while start < min(end, block.count), !isUnwritten {
            let next = min((start / Self.sectorSize + 1) * Self.sectorSize, block.count)
            isUnwritten = block[start..<next].allSatisfy { $0 == 0 }
            start = next
        }
    }

    /// Returns whether a complete record begins after the damage, as far as it can be determined.
    mutating func hasCommitBehind() throws(StoreError) -> Bool {
        let last = block.count - Self.headerSize
        if last > position, (position + 1...last).contains(where: beginsRecord) { return true }
        while !isLastBlock {
            try readBlock()
            var header = 0
            while header + Self.headerSize <= block.count, isWhole(at: header) {
                if beginsRecord(at: header) { return true }
                header += Self.headerSize + contentLength(at: header)
            }
        }
        return false
    }

    private func beginsRecord(at header: Int) -> Bool {
        let kind = Kind(rawValue: block[header + 6])
        return (kind == .full || kind == .first) && isWhole(at: header)
    }

    private mutating func readBlock() throws(StoreError) {
        blockStart += block.count
        position = 0
        do {
            block = try file.read(upToCount: Self.blockSize).map { [UInt8]($0) } ?? []
        } catch {
            throw StoreError(.io, "the file cannot be read", path: path, cause: error)
        }
        isLastBlock = block.count < Self.blockSize
    }

    private func contentLength(at header: Int) -> Int { Int(block[header + 4]) | Int(block[header + 5]) << 8 }

    // MARK: Checksums

    private func storedChecksum(at header: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(block[header + $1]) << UInt32(8 * $1) }
    }

    private func hasChecksum(at header: Int, _ length: Int) -> Bool {
        var checksum = CRC32C()
        block.withUnsafeBytes { bytes in
            checksum.add(UnsafeRawBufferPointer(rebasing: bytes[(header + 6)..<(header + 7 + length)]))
        }
        return checksum.masked == storedChecksum(at: header)
    }

    /// Returns whether a fragment whose length points past the end of the file may have been truncated there.
    ///
    /// It was not truncated if it is complete with a shorter length, which means that the length is damaged, or if
    /// complete fragments follow it.
    private func isCut(at header: Int) -> Bool {
        let stored = storedChecksum(at: header)
        var checksum = CRC32C()
        let isShorter = block.withUnsafeBytes { bytes in
            (header + 6..<block.count).contains { index in
                checksum.add(UnsafeRawBufferPointer(rebasing: bytes[index...index]))
                return checksum.masked == stored
            }
        }
        guard !isShorter, header + Self.headerSize < block.count else { return !isShorter }
        return !(header + 1...block.count - Self.headerSize).contains(where: isWhole)
    }

    private func isWhole(at header: Int) -> Bool {
        let length = contentLength(at: header)
        return Kind(rawValue: block[header + 6]) != nil && length > 0
            && length <= block.count - header - Self.headerSize && hasChecksum(at: header, length)
    }
}
