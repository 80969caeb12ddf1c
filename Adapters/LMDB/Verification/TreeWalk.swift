internal import TidelineStore

/// A walk through one tree of the file in key order. Not recursive, because the file determines the depth.
struct TreeWalk {
    enum Order {
        case bytes
        /// Keys are machine words.
        case numbers
    }

    let verifier: FileVerifier
    /// A description of the tree, for error messages.
    let owner: String
    let order: Order

    private struct Level {
        let page: PageView
        var next = 0
    }

    private var levels: [Level] = []
    /// One page buffer per level.
    private var buffers: [Buffer] = []
    /// The header of a long value's first page.
    private let header = Buffer(size: FileLayout.pageHeader)
    private var depth = 0
    private var branchPages: UInt = 0
    private var leafPages: UInt = 0
    private var overflowPages: UInt = 0
    private var entries: UInt = 0
    /// The last key of the previous leaf.
    private var lastKey: [UInt8]?
    /// The lower bound of the next key: the key of the branch node that leads to it.
    private var leastKey: [UInt8]?

    init(verifier: FileVerifier, owner: String, order: Order) {
        self.verifier = verifier
        self.owner = owner
        self.order = order
    }

    /// Walks from the root in `tree`, calls `visit` with each entry, and returns the record that matches the pages
    /// found.
    mutating func run(
        _ tree: TreeRecord, _ visit: (PageView.Node) throws(StoreError) -> Void
    ) throws(StoreError) -> TreeRecord {
        if tree.root != FileLayout.noPage { try descend(to: tree.root) }
        while let level = levels.last {
            if !level.page.isBranch {
                try verifyLeaf(level.page, visit)
                levels.removeLast()
            } else if level.next < level.page.count {
                levels[levels.count - 1].next += 1
                try follow(level.next, of: level.page)
            } else {
                levels.removeLast()
            }
        }
        return TreeRecord(
            flags: tree.flags, depth: depth, branchPages: branchPages, leafPages: leafPages,
            overflowPages: overflowPages, entries: entries, root: tree.root)
    }

    // MARK: Pages

    private mutating func descend(to number: UInt) throws(StoreError) {
        try verifier.require(levels.count < FileLayout.maximumDepth, "\(owner) is too deep")
        try verifier.use(number, by: owner)
        if buffers.count == levels.count { buffers.append(Buffer(size: verifier.pageSize)) }
        let buffer = buffers[levels.count].bytes
        let count = try verifier.file.read(into: buffer, at: Int(number) * verifier.pageSize)
        try verifier.require(count == verifier.pageSize, "page \(number) was truncated")
        let page = try PageView(UnsafeRawBufferPointer(buffer), number: number, path: verifier.file.path)
        // LMDB aborts the process at a branch with only one child, except in the list of free pages.
        let least = page.isBranch && order == .bytes ? 2 : 1
        try verifier.require(page.count >= least, "page \(number) of \(owner) has too few entries")
        if page.isBranch { branchPages += 1 } else { leafPages += 1 }
        levels.append(Level(page: page))
    }

    private mutating func follow(_ index: Int, of page: PageView) throws(StoreError) {
        let node = try page.node(index, path: verifier.file.path)
        // LMDB ignores the key of the first node, which leads to all keys below the second node's key.
        if index > 0 {
            try requireKey(node.key, in: page)
            if let lastKey {
                try verifier.require(
                    lastKey.withUnsafeBytes { isOrdered($0, node.key) }, "page \(page.number) is out of order")
            }
            leastKey = Array(node.key)
        }
        try descend(to: node.child)
    }

    private mutating func verifyLeaf(
        _ page: PageView, _ visit: (PageView.Node) throws(StoreError) -> Void
    ) throws(StoreError) {
        if depth == 0 { depth = levels.count }
        try verifier.require(depth == levels.count, "\(owner) has an uneven depth at page \(page.number)")
        var node = try page.node(0, path: verifier.file.path)
        try requireKey(node.key, in: page)
        let isAfterLast = lastKey?.withUnsafeBytes { isOrdered($0, node.key) } ?? true
        let isBelowLeast = leastKey?.withUnsafeBytes { isOrdered(node.key, $0) } ?? false
        try verifier.require(isAfterLast && !isBelowLeast, "page \(page.number) is out of order")
        leastKey = nil
        try verify(node, visit)
        for index in 1..<max(1, page.count) {
            let next = try page.node(index, path: verifier.file.path)
            try requireKey(next.key, in: page)
            try verifier.require(isOrdered(node.key, next.key), "page \(page.number) is out of order")
            node = next
            try verify(node, visit)
        }
        lastKey = Array(node.key)
    }

    // MARK: Nodes

    private mutating func verify(
        _ node: PageView.Node, _ visit: (PageView.Node) throws(StoreError) -> Void
    ) throws(StoreError) {
        entries += 1
        if node.isBig { try useOverflow(node) }
        try visit(node)
    }

    /// Verifies the pages of a value that is too long for its leaf: a header, then the value on as many pages as it
    /// needs, or on more if it was longer before.
    private mutating func useOverflow(_ node: PageView.Node) throws(StoreError) {
        let first = node.data.word(at: 0)
        try verifier.use(first, by: owner)
        _ = try verifier.file.read(into: header.bytes, at: Int(first) * verifier.pageSize)
        let bytes = UnsafeRawBufferPointer(header.bytes)
        let count = UInt(bytes.loadUnaligned(fromByteOffset: FileLayout.pageOverflowCount, as: UInt32.self))
        let needed = UInt((FileLayout.pageHeader - 1 + node.dataSize) / verifier.pageSize + 1)
        try verifier.require(
            bytes.word(at: 0) == first && bytes.half(at: FileLayout.pageFlags) == FileLayout.overflowPage
                && count >= needed, "page \(first) of \(owner) is not the start of a long value")
        if count > 1 { try verifier.use(first + 1, count: count - 1, by: owner) }
        overflowPages += count
    }

    private func requireKey(_ key: UnsafeRawBufferPointer, in page: PageView) throws(StoreError) {
        let isRight =
            order == .numbers ? key.count == FileLayout.word : (1...FileLayout.maximumKeyLength).contains(key.count)
        try verifier.require(isRight, "page \(page.number) of \(owner) has a key of \(key.count) bytes")
    }

    /// Returns whether `a` comes before `b`.
    private func isOrdered(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        switch order {
        case .bytes: a.compare(b) < 0
        case .numbers: a.word(at: 0) < b.word(at: 0)
        }
    }
}
