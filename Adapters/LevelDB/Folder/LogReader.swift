internal import Foundation
internal import TidelineStore

/// A record of a log.
struct LogRecord {
    /// Where it begins and ends in the file.
    var start = 0
    var end = 0
    /// How long it is, and its bytes, or so many of them as were asked for.
    var length = 0
    var bytes: [UInt8] = []
}

/// Reads a file of records, LevelDB's log or manifest, without passing over anything.
///
/// LevelDB's own reader skips a stretch of zeros silently, and drops the rest of the last block when a length there
/// points past the end. This one takes the file for cut off, as a killed process leaves it, only when what is there
/// cannot be anything else; everything else that is not a whole record is damage.
///
/// A file is blocks of 32 KiB. A record is one fragment or, over several blocks, a first, middle ones and a last. A
/// fragment has a header of 7 bytes: masked CRC-32C of kind and content, length in 16 bits, kind; all little-endian. No
/// header crosses a block's end.
struct LogReader {
    private static let blockSize = 32_768
    private static let headerSize = 7
    /// What a disk writes whole or not at all.
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
    /// How many bytes of each record to keep.
    private let limit: Int
    private var block: [UInt8] = []
    private var blockStart = 0
    private var position = 0
    private var isLastBlock = false
    /// Where the last whole record ends.
    private(set) var end = 0
    /// What is wrong with the file, once that was met.
    private(set) var damage: String?
    /// Whether the damaged place reads as what was never written: zeros up to the end of a sector.
    private(set) var isUnwritten = false

    init(_ path: String, keeping limit: Int = .max) throws(StoreError) {
        guard let file = try FileHandle.reading(path) else { throw .damaged(path, "the file does not exist") }
        self.file = file
        self.path = path
        self.limit = limit
    }

    /// The next whole record; nil at the end, where the file was cut off, and at damage.
    mutating func next() throws(StoreError) -> LogRecord? {
        var record = LogRecord()
        var isWithin = false
        while let fragment = try nextFragment() {
            guard isWithin == (fragment.kind == .middle || fragment.kind == .last) else {
                damage = "a record at \(blockStart + fragment.start) is not whole"
                return nil
            }
            if !isWithin { record.start = blockStart + fragment.start }
            isWithin = true
            record.length += fragment.content.count
            record.bytes += block[fragment.content].prefix(limit - record.bytes.count)
            guard fragment.kind == .full || fragment.kind == .last else { continue }
            end = blockStart + fragment.content.upperBound
            record.end = end
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
        let length = Int(block[position + 4]) | Int(block[position + 5]) << 8
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

    /// Notes damage to the fragment here, which should end at `end`.
    private mutating func meetDamage(_ what: String, _ end: Int) {
        damage = "\(what) at \(blockStart + position) is wrong"
        var start = position
        while start < min(end, block.count), !isUnwritten {
            let next = min((start / Self.sectorSize + 1) * Self.sectorSize, block.count)
            isUnwritten = block[start..<next].allSatisfy { $0 == 0 }
            start = next
        }
    }

    /// Whether a whole record begins behind the damage, as far as can be seen.
    mutating func hasCommitBehind() throws(StoreError) -> Bool {
        let last = block.count - Self.headerSize
        if last > position, (position + 1...last).contains(where: beginsRecord) { return true }
        while !isLastBlock {
            try readBlock()
            var header = 0
            while header + Self.headerSize <= block.count, isWhole(at: header) {
                if beginsRecord(at: header) { return true }
                header += Self.headerSize + (Int(block[header + 4]) | Int(block[header + 5]) << 8)
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

    /// Whether the fragment whose length points past the end of the file can have been cut off there.
    ///
    /// It cannot if it is whole with a shorter length, so that the length was damaged, nor if whole ones follow it.
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
        let length = Int(block[header + 4]) | Int(block[header + 5]) << 8
        return Kind(rawValue: block[header + 6]) != nil && length > 0
            && length <= block.count - header - Self.headerSize && hasChecksum(at: header, length)
    }
}
