internal import TidelineStore

/// Verifies a snapshot of the file: every page in use, the list of free pages, every record with its checksum.
///
/// LMDB trusts its file. The verifier detects damage that would make LMDB return wrong rows, overwrite pages in use, or
/// crash the process. A reader must hold the snapshot, so that no process reuses its pages in the meantime.
final class FileVerifier {
    let file: DataFile
    let pageSize: Int
    let head: FileHeads.Head
    /// The number of complete pages in the file.
    let filePages: UInt
    private let previous: FileHeads.Head?
    private var pages: PageSet
    /// The databases of key spaces, with their numbers.
    private var spaces: [(space: UInt32, tree: TreeRecord)] = []
    private var overflow = Buffer(size: 0)
    /// Whether the list of free pages has an entry of the snapshot's own transaction.
    private var hasOwnFreePages = false

    /// - Parameter transaction: The transaction whose snapshot is held.
    init?(_ file: DataFile, _ heads: FileHeads, transaction: UInt) throws(StoreError) {
        guard let head = heads.heads.first(where: { $0.transaction == transaction }) else { return nil }
        self.file = file
        self.head = head
        pageSize = heads.pageSize
        previous = heads.heads.first { transaction > 0 && $0.transaction == transaction - 1 }
        filePages = UInt(try file.size() / pageSize)
        pages = PageSet(count: Int(filePages))
        _ = pages.insert(0)
        _ = pages.insert(1)
    }

    func verify() throws(StoreError) {
        try require(head.free.flags == FileLayout.integerKeys && head.main.flags == 0, "its meta page has wrong flags")
        try walk(head.free, "the list of free pages", TreeWalk.Order.numbers) { node throws(StoreError) in
            try self.verifyFreePages(node)
        }
        // A meta page with a wrong number could restore an old state. Every transaction after the first frees the pages
        // that it replaced, at least the root of the list of tables, under its own number.
        try require(hasOwnFreePages || head.transaction < 2, "its meta page is not of transaction \(head.transaction)")
        try walk(head.main, "the list of tables", TreeWalk.Order.bytes) { node throws(StoreError) in
            try self.noteSpace(node)
        }
        for (space, tree) in spaces {
            try require(tree.flags == 0, "the record of space \(space) has wrong flags")
            try walk(tree, "space \(space)", TreeWalk.Order.bytes) { node throws(StoreError) in
                try self.verifyRecord(node, in: space)
            }
        }
        // Pages that were allocated and freed in one transaction are never written, but are in the list of free pages.
        try require(head.lastPage < filePages || pages.contains(head.lastPage), "its end is missing")
    }

    func require(_ condition: Bool, _ what: @autoclosure () -> String) throws(StoreError) {
        guard condition else { throw .damaged(what(), path: file.path) }
    }

    // MARK: Pages

    /// Marks pages as used by the structure that is being walked.
    func use(_ first: UInt, count: UInt = 1, by owner: String) throws(StoreError) {
        let end = first.addingReportingOverflow(count)
        try require(
            first >= 2 && count >= 1 && !end.overflow && end.partialValue <= head.lastPage + 1
                && end.partialValue <= filePages, "\(owner) refers to page \(first), which does not exist")
        for page in first..<end.partialValue {
            try require(pages.insert(page), "page \(page) of \(owner) is used twice or is free")
        }
    }

    private func walk(
        _ tree: TreeRecord, _ owner: String, _ order: TreeWalk.Order,
        _ visit: (PageView.Node) throws(StoreError) -> Void
    ) throws(StoreError) {
        var walk = TreeWalk(verifier: self, owner: owner, order: order)
        let found = try walk.run(tree, visit)
        try require(found == tree, "\(owner) does not match its record: found \(found), expected \(tree)")
    }

    /// Returns the data of a node, which may be on overflow pages.
    private func data(of node: PageView.Node) throws(StoreError) -> UnsafeRawBufferPointer {
        guard node.isBig else { return node.data }
        let start = Int(node.data.word(at: 0)) * pageSize + FileLayout.pageHeader
        if overflow.bytes.count < node.dataSize {
            overflow = Buffer(size: max(node.dataSize, 2 * overflow.bytes.count))
        }
        let room = UnsafeMutableRawBufferPointer(rebasing: overflow.bytes[..<node.dataSize])
        try require(try file.read(into: room, at: start) == node.dataSize, "a long value was truncated")
        return UnsafeRawBufferPointer(room)
    }

    // MARK: Nodes

    private func verifyFreePages(_ node: PageView.Node) throws(StoreError) {
        let transaction = node.key.word(at: 0)
        try require(
            transaction >= 1 && transaction <= head.transaction && node.flags & ~FileLayout.nodeBigData == 0,
            "the list of free pages has an entry of transaction \(transaction)")
        let data = try data(of: node)
        let word = FileLayout.word
        try require(data.count >= word && data.count % word == 0, "a free-list entry has an invalid length")
        let count = data.word(at: 0)
        try require(count <= UInt(data.count / word - 1), "a free-list entry is too short for its count")
        var last = head.lastPage + 1
        var hasPreviousRoot = false
        for index in 0..<Int(count) {
            let page = data.word(at: (index + 1) * word)
            try require(page >= 2 && page < last, "the list of free pages is out of order at page \(page)")
            try require(pages.insert(page), "page \(page) is both free and in use, or free twice")
            last = page
            if page == previous?.main.root { hasPreviousRoot = true }
        }
        guard transaction == head.transaction else { return }
        hasOwnFreePages = true
        // The newest transaction replaced the previous root. If it did not, the previous meta page is newer than its
        // number.
        let needsRoot = previous.map { $0.main.root != FileLayout.noPage && $0.main.root != head.main.root } ?? false
        // Exception: a failed commit wrote the roots that it was to have there, and its number is recorded.
        let hasFailedRoot = previous?.failedCommit == head.transaction + 1
        try require(hasPreviousRoot || !needsRoot || hasFailedRoot, "its meta pages are inconsistent")
    }

    private func noteSpace(_ node: PageView.Node) throws(StoreError) {
        guard node.flags == FileLayout.nodeTree, node.dataSize == FileLayout.treeRecord,
            let space = SpaceName.space(named: node.key)
        else { throw .unknownTable(isFirst: spaces.isEmpty, path: file.path) }
        spaces.append((space, TreeRecord(node.data)))
    }

    private func verifyRecord(_ node: PageView.Node, in space: UInt32) throws(StoreError) {
        try require(node.flags & ~FileLayout.nodeBigData == 0, "a record of space \(space) has wrong flags")
        let key = node.key
        try require(
            key.count >= 4 && UInt32(bigEndian: key.loadUnaligned(as: UInt32.self)) == space,
            "space \(space) contains a record of another space")
        try require(
            Checksum.matches(key: key, stored: try data(of: node)), "a record of space \(space) has a wrong checksum")
    }
}

/// A buffer for pages.
final class Buffer {
    /// Freed with this object, which must outlive every use of the bytes.
    let bytes: UnsafeMutableRawBufferPointer

    init(size: Int) { bytes = .allocate(byteCount: size, alignment: 16) }

    deinit { bytes.deallocate() }
}

/// The set of pages found so far in a file; each may occur only once.
struct PageSet {
    /// A bit for each page within the file.
    private var bits: [UInt64]
    private let count: UInt
    /// Free pages beyond the end of the file, which were never written.
    private var beyond: Set<UInt> = []

    init(count: Int) {
        self.count = UInt(count)
        bits = Array(repeating: 0, count: count / 64 + 1)
    }

    /// - Returns: Whether the page was not in the set.
    mutating func insert(_ page: UInt) -> Bool {
        guard page < count else { return beyond.insert(page).inserted }
        let bit: UInt64 = 1 << UInt64(page & 63)
        guard bits[Int(page >> 6)] & bit == 0 else { return false }
        bits[Int(page >> 6)] |= bit
        return true
    }

    func contains(_ page: UInt) -> Bool {
        page < count ? bits[Int(page >> 6)] >> UInt64(page & 63) & 1 == 1 : beyond.contains(page)
    }
}
