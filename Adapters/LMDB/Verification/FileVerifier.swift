internal import TidelineStore

/// Looks a snapshot of the file through: every page in use, the list of free ones, every record with its checksum.
///
/// LMDB believes its file; what this finds is what would make it read wrong rows, overwrite pages in use, or end the
/// process. The snapshot must be held by a reader, so that no process uses its pages for something else meanwhile.
final class FileVerifier {
    let file: DataFile
    let pageSize: Int
    let head: FileHeads.Head
    /// How many whole pages the file has.
    let filePages: UInt
    private let previous: FileHeads.Head?
    private var pages: PageSet
    /// Databases of key spaces, by their numbers.
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
        try require(head.free.flags == FileLayout.integerKeys && head.main.flags == 0, "its head has wrong flags")
        try walk(head.free, "the list of free pages", TreeWalk.Order.numbers) { node throws(StoreError) in
            try self.verifyFreePages(node)
        }
        try requireNewest()
        try walk(head.main, "the list of tables", TreeWalk.Order.bytes) { node throws(StoreError) in
            try self.noteSpace(node)
        }
        for (space, tree) in spaces {
            try require(tree.flags == 0, "the record of space \(space) has wrong flags")
            try walk(tree, "space \(space)", TreeWalk.Order.bytes) { node throws(StoreError) in
                try self.verifyRecord(node, in: space)
            }
        }
        // Pages that were taken and given back in one transaction are never written, but they are on the list.
        try require(head.lastPage < filePages || pages.contains(head.lastPage), "its end is missing")
    }

    func require(_ condition: Bool, _ what: @autoclosure () -> String) throws(StoreError) {
        guard condition else { throw .damaged(what(), path: file.path) }
    }

    // MARK: Pages

    /// Counts pages as in use by what is being walked.
    func use(_ first: UInt, count: UInt = 1, by owner: String) throws(StoreError) {
        let end = first.addingReportingOverflow(count)
        try require(
            first >= 2 && count >= 1 && !end.overflow && end.partialValue <= head.lastPage + 1
                && end.partialValue <= filePages, "\(owner) refers to page \(first), which is not there")
        for page in first..<end.partialValue {
            try require(pages.insert(page), "page \(page), of \(owner), is used twice, or free")
        }
    }

    private func walk(
        _ tree: TreeRecord, _ owner: String, _ order: TreeWalk.Order,
        _ visit: (PageView.Node) throws(StoreError) -> Void
    ) throws(StoreError) {
        var walk = TreeWalk(verifier: self, owner: owner, order: order)
        let found = try walk.run(tree, visit)
        try require(found == tree, "\(owner) is not as it was recorded: \(found) for \(tree)")
    }

    /// The data of a node, which may lie on pages of its own.
    private func data(of node: PageView.Node) throws(StoreError) -> UnsafeRawBufferPointer {
        guard node.isBig else { return node.data }
        let start = Int(node.data.word(at: 0)) * pageSize + FileLayout.pageHeader
        if overflow.bytes.count < node.dataSize {
            overflow = Buffer(size: max(node.dataSize, 2 * overflow.bytes.count))
        }
        let room = UnsafeMutableRawBufferPointer(rebasing: overflow.bytes[..<node.dataSize])
        try require(try file.read(into: room, at: start) == node.dataSize, "a long value was cut off")
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
        try require(data.count >= word && data.count % word == 0, "the list of free pages has an entry of odd length")
        let count = data.word(at: 0)
        try require(count <= UInt(data.count / word - 1), "the list of free pages has an entry that goes beyond itself")
        var last = head.lastPage + 1
        var hasPreviousRoot = false
        for index in 0..<Int(count) {
            let page = data.word(at: (index + 1) * word)
            try require(page >= 2 && page < last, "the list of free pages is out of order at page \(page)")
            try require(pages.insert(page), "page \(page) is free and in use, or free twice")
            last = page
            if page == previous?.main.root { hasPreviousRoot = true }
        }
        guard transaction == head.transaction else { return }
        hasOwnFreePages = true
        // The newest transaction replaced the root of the one before. If it did not, that head is newer than it says.
        let needsRoot = previous.map { $0.main.root != FileLayout.noPage && $0.main.root != head.main.root } ?? false
        // But for what a failed commit left in it: the roots it was to have, under the number it had.
        let hasFailedRoot = previous?.failedCommit == head.transaction + 1
        try require(hasPreviousRoot || !needsRoot || hasFailedRoot, "its heads contradict each other")
    }

    /// A head whose number is wrong could bring an old state back. A transaction after the first frees what it replaced
    /// and says so under its number: the root of the list of tables at least.
    private func requireNewest() throws(StoreError) {
        try require(hasOwnFreePages || head.transaction < 2, "its head is not of transaction \(head.transaction)")
    }

    private func noteSpace(_ node: PageView.Node) throws(StoreError) {
        guard node.flags == FileLayout.nodeTree, node.dataSize == FileLayout.treeRecord,
            let space = SpaceName.space(named: node.key)
        else { throw .foreign(file.path) }
        spaces.append((space, TreeRecord(node.data)))
    }

    private func verifyRecord(_ node: PageView.Node, in space: UInt32) throws(StoreError) {
        try require(node.flags & ~FileLayout.nodeBigData == 0, "a record of space \(space) has wrong flags")
        let key = node.key
        try require(
            key.count >= 4 && UInt32(bigEndian: key.loadUnaligned(as: UInt32.self)) == space,
            "a record of another space lies in space \(space)")
        try require(
            Checksum.matches(key: key, stored: try data(of: node)), "a record of space \(space) has a wrong checksum")
    }
}

/// Memory for pages that were read.
final class Buffer {
    /// Freed with this object, which whoever reads in it keeps.
    let bytes: UnsafeMutableRawBufferPointer

    init(size: Int) { bytes = .allocate(byteCount: size, alignment: 16) }

    deinit { bytes.deallocate() }
}
