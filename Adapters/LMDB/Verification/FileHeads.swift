internal import Foundation
internal import TidelineStore

/// The two meta pages of a file, which contain the roots of its newest two snapshots. Transaction n writes page n mod
/// 2.
struct FileHeads {
    /// One meta page.
    struct Head {
        let transaction: UInt
        let lastPage: UInt
        let mapSize: UInt
        let free: TreeRecord
        let main: TreeRecord
        /// The number of a failed commit that was to write this meta page, or `nil` if none is recorded.
        let failedCommit: UInt?
    }

    let pageSize: Int
    let heads: [Head]

    var newest: Head { heads[0].transaction > heads[1].transaction ? heads[0] : heads[1] }
    var bytesInUse: Int { (Int(newest.lastPage) + 1) * pageSize }

    /// Reads and checks the meta pages, before LMDB relies on them.
    ///
    /// Another process may be writing one, so apparent damage is confirmed by reading again.
    ///
    /// - Throws: ``StoreError/Code/notAStore`` if nothing identifies the file as LMDB's, ``StoreError/Code/corrupt`` if
    ///   it is damaged.
    static func read(_ file: DataFile) throws(StoreError) -> FileHeads {
        var attempts = 0
        while true {
            do {
                return try readOnce(file)
            } catch {
                attempts += 1
                guard error.code == .corrupt, attempts < 4 else {
                    guard error.code == .corrupt, try !areBegun(in: file) else { throw error }
                    throw StoreError(
                        .notAStore,
                        "the file is not LMDB's; choose another folder or, if a store was here, restore it from a copy",
                        path: file.path)
                }
                // No lock signals the end of the other process's write. LMDB writes a meta page in one call, which
                // takes far less than half a millisecond.
                usleep(500)
            }
        }
    }

    /// Returns whether LMDB created a file, completely or not: whether it has LMDB's magic number where a meta page may
    /// be.
    private static func areBegun(in file: DataFile) throws(StoreError) -> Bool {
        var start = [UInt8](repeating: 0, count: 2 * FileLayout.pageSizes.upperBound)
        var failure: StoreError?
        start.withUnsafeMutableBytes { buffer in
            do throws(StoreError) { _ = try file.read(into: buffer, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
        let sizes = sequence(first: FileLayout.pageSizes.lowerBound) { $0 * 2 }.prefix { FileLayout.pageSizes ~= $0 }
        return start.withUnsafeBytes { bytes in
            ([0] + sizes).contains { offset in
                bytes.loadUnaligned(fromByteOffset: offset + FileLayout.pageHeader, as: UInt32.self)
                    == FileLayout.magic
            }
        }
    }

    private static func readOnce(_ file: DataFile) throws(StoreError) -> FileHeads {
        var result: Result<FileHeads, StoreError> = .failure(.damaged("it has no meta pages", path: file.path))
        withUnsafeTemporaryAllocation(byteCount: 2 * FileLayout.pageSizes.upperBound, alignment: 16) { buffer in
            do throws(StoreError) {
                let count = try file.read(into: buffer, at: 0)
                result = .success(try FileHeads(UnsafeRawBufferPointer(rebasing: buffer[..<count]), path: file.path))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    private init(_ start: UnsafeRawBufferPointer, path: String) throws(StoreError) {
        guard start.count > 0 else { throw .damaged("it is empty, so it was truncated", path: path) }
        let pageSize = try Self.pageSize(start, path: path)
        guard start.count >= 2 * pageSize else { throw .damaged("it ends within its meta pages", path: path) }
        self.pageSize = pageSize
        heads = try [0, 1].map { number throws(StoreError) in
            let page = UnsafeRawBufferPointer(rebasing: start[(number * pageSize)..<((number + 1) * pageSize)])
            return try Self.head(number, page, pageSize, path: path)
        }
        // Each commit writes the meta page that the previous commit did not write.
        let transactions = heads.map(\.transaction)
        let distance = max(transactions[0], transactions[1]) - min(transactions[0], transactions[1])
        guard distance == 1 || transactions == [0, 0] else {
            throw .damaged("its meta pages are of transactions \(transactions[0]) and \(transactions[1])", path: path)
        }
    }

    private static func pageSize(_ start: UnsafeRawBufferPointer, path: String) throws(StoreError) -> Int {
        guard start.count >= FileLayout.pageHeader + FileLayout.head else {
            throw .damaged("it ends within its meta pages", path: path)
        }
        let size = start.loadUnaligned(
            fromByteOffset: FileLayout.pageHeader + FileLayout.headFreeTree, as: UInt32.self)
        guard FileLayout.pageSizes.contains(Int(size)), size & (size - 1) == 0 else {
            throw .damaged("it is not an LMDB file, or its first meta page is destroyed", path: path)
        }
        return Int(size)
    }

    private static func head(
        _ number: Int, _ page: UnsafeRawBufferPointer, _ pageSize: Int, path: String
    ) throws(StoreError) -> Head {
        let bytes = UnsafeRawBufferPointer(rebasing: page[FileLayout.pageHeader...])
        func require(_ condition: Bool, _ what: String) throws(StoreError) {
            guard condition else { throw .damaged("meta page \(number): \(what)", path: path) }
        }
        try require(page.word(at: 0) == number, "wrong page number")
        try require(page.half(at: FileLayout.pageFlags) == FileLayout.headPage, "wrong page type")
        try require(bytes.loadUnaligned(as: UInt32.self) == FileLayout.magic, "wrong magic number")
        let version = bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
        // Later versions of LMDB increase the number; a value far off means damage.
        guard version <= FileLayout.version || version > 1000 else {
            throw StoreError(.newerFormat, "version \(version) of LMDB's file format is not supported", path: path)
        }
        try require(version == FileLayout.version, "wrong version \(version)")
        let size = bytes.loadUnaligned(fromByteOffset: FileLayout.headFreeTree, as: UInt32.self)
        try require(Int(size) == pageSize, "wrong page size \(size)")
        let head = Head(
            transaction: bytes.word(at: FileLayout.headTransaction), lastPage: bytes.word(at: FileLayout.headLastPage),
            mapSize: bytes.word(at: FileLayout.headMapSize),
            free: TreeRecord(UnsafeRawBufferPointer(rebasing: bytes[FileLayout.headFreeTree...])),
            main: TreeRecord(UnsafeRawBufferPointer(rebasing: bytes[FileLayout.headMainTree...])),
            failedCommit: failedCommit(page))
        try require(head.transaction & 1 == number || head.transaction == 0, "wrong transaction \(head.transaction)")
        try require(head.transaction < UInt.max / 2, "wrong transaction \(head.transaction)")
        let maximumSize = UInt.max >> (UInt.bitWidth == 64 ? 16 : 0)
        try require(head.mapSize <= maximumSize, "wrong map size \(head.mapSize)")
        try require(
            head.lastPage >= 1 && head.lastPage < head.mapSize / UInt(pageSize), "wrong last page \(head.lastPage)")
        return head
    }

    private static func failedCommit(_ page: UnsafeRawBufferPointer) -> UInt? {
        guard page.count >= FileLayout.failedCommit + FileLayout.failedCommitSize else { return nil }
        let number = page.word(at: FileLayout.failedCommit)
        return page.word(at: FileLayout.failedCommit + FileLayout.word) == ~number ? number : nil
    }
}
