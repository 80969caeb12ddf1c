internal import Foundation

/// The resources that a process and the files of a store use.
struct Resources {
    private var memory = ProcessState.memory
    private var descriptors = ProcessState.openDescriptorCount
    private var fileSize: Int
    private var fileCount: Int

    private init(_ context: CheckContext) {
        fileSize = ProcessState.size(of: context.directory)
        fileCount = FileManager.default.enumerator(atPath: context.directory)?.reduce(0) { count, _ in count + 1 } ?? 0
    }

    /// Performs operations and fails if those after the first tenth need more memory, descriptors, files, or space.
    static func expectSteady(
        _ context: CheckContext, operations count: Int, _ what: String, _ perform: (Range<Int>) throws -> Void
    ) throws {
        let first = max(count / 10, 1)
        try perform(0..<first)
        let before = Resources(context)
        try perform(first..<count)
        let after = Resources(context)
        // A leak of a hundred bytes with each operation is found with 100,000 operations.
        let limits: [(String, Int, Int)] = [
            ("bytes of memory", after.memory - before.memory, 16 << 20 + 64 * count),
            ("descriptors", after.descriptors - before.descriptors, 64 + count / 20),
            ("files", after.fileCount - before.fileCount, 16 + count / 1_000),
            ("bytes in files", after.fileSize - before.fileSize, 64 << 20),
        ]
        for (unit, growth, limit) in limits {
            try context.expect(growth <= limit, "\(what) took \(growth) more \(unit), expected at most \(limit)")
        }
    }
}

extension ProcessState {
    /// The number of open descriptors of this process: files in any directory, sockets, and pipes.
    static var openDescriptorCount: Int { (0..<Int32(65_536)).count { fcntl($0, F_GETFD) != -1 } }
}
