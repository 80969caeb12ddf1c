/// The layout of LMDB's file, version 1 of its format, in machine words: `MDB_page`, `MDB_meta`, `MDB_db` and
/// `MDB_node` in its source code.
enum FileLayout {
    static let word = MemoryLayout<UInt>.size

    // A page: its number, two unused bytes, flags, then the bounds of its free space or the number of overflow pages.
    static let pageFlags = word + 2
    static let pageLower = word + 4
    static let pageUpper = word + 6
    static let pageOverflowCount = word + 4
    static let pageHeader = word + 8

    static let branchPage: UInt16 = 0x01
    static let leafPage: UInt16 = 0x02
    static let overflowPage: UInt16 = 0x04
    static let headPage: UInt16 = 0x08

    // A meta page, after the page header: magic number, version, address, map size, the records of two trees, the last
    // page, the transaction.
    static let magic: UInt32 = 0xBEEF_C0DE
    static let version: UInt32 = 1
    static let headMapSize = 8 + word
    static let headFreeTree = 8 + 2 * word
    static let headMainTree = headFreeTree + treeRecord
    static let headLastPage = headMainTree + treeRecord
    static let headTransaction = headLastPage + word
    static let head = headTransaction + word

    // After a meta page, in space that LMDB does not use: the number of a failed commit that was to write that page,
    // and its complement; see `Environment.commitError(_:of:)` of the adapter.
    static let failedCommit = pageHeader + head
    static let failedCommitSize = 2 * word

    // A tree record: four unused bytes (the page size, in the first record of a meta page), flags, depth, and five
    // counts.
    static let treeFlags = 4
    static let treeDepth = 6
    static let treeBranchPages = 8
    static let treeLeafPages = 8 + word
    static let treeOverflowPages = 8 + 2 * word
    static let treeEntries = 8 + 3 * word
    static let treeRoot = 8 + 4 * word
    static let treeRecord = 8 + 5 * word
    static let integerKeys: UInt16 = 0x08

    // A node: the size of its data or its page in two halves of two bytes, flags or the page's high bits, the size of
    // its key.
    static let nodeFlags = 4
    static let nodeKeySize = 6
    static let node = 8
    static let nodeBigData: UInt16 = 0x01
    static let nodeTree: UInt16 = 0x02

    static let noPage = UInt.max
    static let maximumDepth = 32
    /// The maximum length of a key in bytes, which is fixed when LMDB is built; that of its default build.
    static let maximumKeyLength = 511
    static let pageSizes = 256...32768
}

extension UnsafeRawBufferPointer {
    func word(at offset: Int) -> UInt { loadUnaligned(fromByteOffset: offset, as: UInt.self) }
    func half(at offset: Int) -> UInt16 { loadUnaligned(fromByteOffset: offset, as: UInt16.self) }
}

/// LMDB's record of a tree.
struct TreeRecord: Equatable {
    let flags: UInt16
    let depth: Int
    let branchPages: UInt
    let leafPages: UInt
    let overflowPages: UInt
    let entries: UInt
    let root: UInt
}

extension TreeRecord {
    /// Reads a record; `bytes` must be large enough.
    init(_ bytes: UnsafeRawBufferPointer) {
        flags = bytes.half(at: FileLayout.treeFlags)
        depth = Int(bytes.half(at: FileLayout.treeDepth))
        branchPages = bytes.word(at: FileLayout.treeBranchPages)
        leafPages = bytes.word(at: FileLayout.treeLeafPages)
        overflowPages = bytes.word(at: FileLayout.treeOverflowPages)
        entries = bytes.word(at: FileLayout.treeEntries)
        root = bytes.word(at: FileLayout.treeRoot)
    }
}

/// The name of a key space's database: its number as eight hexadecimal digits.
enum SpaceName {
    static func of(_ space: UInt32) -> String {
        let digits = String(space, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// Returns the space of a database with the given name, or `nil` for a name that this engine does not use.
    static func space(named name: UnsafeRawBufferPointer) -> UInt32? {
        guard let space = UInt32(String(decoding: name, as: UTF8.self), radix: 16),
            of(space).utf8.elementsEqual(name)
        else { return nil }
        return space
    }
}
