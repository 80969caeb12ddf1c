/// The checksum in LevelDB's logs: CRC-32 with the Castagnoli polynomial, as defined in RFC 3720.
struct CRC32C {
    /// The checksum of the bytes added so far.
    private(set) var value: UInt32 = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        value = Self.tables.withUnsafeBufferPointer { tables in
            var crc = ~value
            var position = 0
            while position + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self).littleEndian
                crc = Self.step(crc, word, tables)
                position += 8
            }
            while position < bytes.count {
                crc = tables[Int(UInt8(truncatingIfNeeded: crc) ^ bytes[position])] ^ (crc >> 8)
                position += 1
            }
            return ~crc
        }
    }

    /// The checksum as it is stored. LevelDB masks it to improve the checksums of data that contains checksums.
    var masked: UInt32 { ((value >> 15) | (value << 17)) &+ 0xA282_EAD8 }

    /// Processes eight bytes at once, with one table for each.
    @inline(__always)
    private static func step(_ crc: UInt32, _ word: UInt64, _ tables: UnsafeBufferPointer<UInt32>) -> UInt32 {
        let mixed = word ^ UInt64(crc)
        var result: UInt32 = 0
        for index in 0..<8 {
            result ^= tables[(7 - index) * 256 + Int(UInt8(truncatingIfNeeded: mixed >> (8 * UInt64(index))))]
        }
        return result
    }

    /// Eight tables of 256 entries: the effect of a byte on the checksum, with as many bytes after it as the table's
    /// index.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            tables[byte] = (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ 0x82F6_3B78 }
        }
        for index in 256..<tables.count {
            let before = tables[index - 256]
            tables[index] = tables[Int(UInt8(truncatingIfNeeded: before))] ^ (before >> 8)
        }
        return tables
    }()
}
