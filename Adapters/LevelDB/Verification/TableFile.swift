internal import Foundation
internal import TidelineStore

/// Checks for the parts of a table that LevelDB does not check: its size, and the footer, which has no checksum.
///
/// With a wrong offset or length in the footer, LevelDB would allocate that amount of memory and crash the process if
/// there is not enough.
enum TableFile {
    private static let footerSize = 48
    /// The size of the type and checksum after a block.
    private static let trailerSize: UInt64 = 5
    private static let magic: [UInt8] = [0x57, 0xFB, 0x80, 0x8B, 0x24, 0x75, 0x47, 0xDB]

    /// Throws an error if a table does not have the size in the manifest, or its footer points outside the file.
    static func check(_ number: UInt64, size: UInt64, in folder: String) throws(StoreError) {
        let path = path(number, in: folder)
        guard let file = try FileHandle.reading(path) else { throw .damaged(path, "the table is missing") }
        defer { try? file.close() }
        guard let actual = try? file.seekToEnd() else { throw StoreError(.io, "the table cannot be read", path: path) }
        guard actual == size, size >= UInt64(footerSize) else {
            throw .damaged(path, "the table has \(actual) bytes instead of \(size)")
        }
        guard isGood(try footer(file, size, path), size) else { throw .damaged(path, "the table's footer is damaged") }
    }

    /// Returns whether a file ends with the magic number of tables.
    static func hasMark(_ path: String) throws(StoreError) -> Bool {
        guard let file = try FileHandle.reading(path) else { return false }
        defer { try? file.close() }
        guard let size = try? file.seekToEnd(), size >= UInt64(footerSize) else { return false }
        return try footer(file, size, path).suffix(magic.count).elementsEqual(magic)
    }

    /// Returns the path of a table; old versions of LevelDB use a different suffix.
    private static func path(_ number: UInt64, in folder: String) -> String {
        let digits = String(number)
        let stem = "\(folder)/\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits)"
        var status = stat()
        return lstat("\(stem).sst", &status) == 0 ? "\(stem).sst" : "\(stem).ldb"
    }

    private static func footer(_ file: FileHandle, _ size: UInt64, _ path: String) throws(StoreError) -> [UInt8] {
        do {
            try file.seek(toOffset: size - UInt64(footerSize))
            return [UInt8](try file.read(upToCount: footerSize) ?? Data())
        } catch {
            throw StoreError(.io, "the table cannot be read", path: path, cause: error)
        }
    }

    private static func isGood(_ footer: [UInt8], _ size: UInt64) -> Bool {
        let start = size - UInt64(footerSize)
        guard footer.count == footerSize, Array(footer.suffix(magic.count)) == magic else { return false }
        var reader = VarintReader(footer.dropLast(magic.count))
        return (0..<2).allSatisfy { _ in
            guard let offset = reader.number(), let length = reader.number() else { return false }
            return offset <= start && length <= start - offset && trailerSize <= start - offset - length
        }
    }
}
