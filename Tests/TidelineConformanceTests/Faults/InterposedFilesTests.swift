import Foundation
import Synchronization
import Testing
import TidelineTestSupport

@testable import TidelineConformance
@testable import TidelineFaults

#if os(Linux)
/// Tests the layer around the file calls through Foundation and through the C library.
@Suite struct InterposedFilesTests {
    /// Decides about each call with a closure, and records the calls.
    private final class Observer: FileObserver {
        let decision: @Sendable (FileOperation) -> FileDecision
        private let heard = Mutex<[FileOperation]>([])

        init(_ decision: @escaping @Sendable (FileOperation) -> FileDecision = { _ in .perform }) {
            self.decision = decision
        }

        var operations: [FileOperation] { heard.withLock { $0 } }
        var kinds: [FileOperation.Kind] { operations.map(\.kind) }

        func decide(_ operation: FileOperation) -> FileDecision { decision(operation) }
        func performed(_ operation: FileOperation) { heard.withLock { $0.append(operation) } }
    }

    private let folder: TemporaryFolder
    private var path: String { folder.path }

    init() throws { folder = try TemporaryFolder() }

    /// Runs `body` under observation, and returns the observer with the calls.
    @discardableResult
    private func observe(_ observer: Observer = Observer(), _ body: () throws -> Void) throws -> Observer {
        try InterposedFiles().observing(path, by: observer, body)
        return observer
    }

    @Test func callsAreToldOfInTheirOrder() throws {
        try #require(InterposedFiles().isAvailable)
        let observer = try observe {
            let file = open("\(path)/a", O_RDWR | O_CREAT, 0o644)
            #expect(write(file, "hello", 5) == 5)
            #expect(pwrite(file, "J", 1, 0) == 1)
            #expect(ftruncate(file, 3) == 0)
            #expect(fsync(file) == 0)
            close(file)
            #expect(rename("\(path)/a", "\(path)/b") == 0)
            #expect(mkdir("\(path)/c", 0o755) == 0)
            #expect(rmdir("\(path)/c") == 0)
            #expect(unlink("\(path)/b") == 0)
        }
        #expect(
            observer.kinds
                == [.create, .write, .write, .resize, .sync, .rename, .makeDirectory, .removeDirectory, .unlink])
        let operations = observer.operations
        #expect(operations[1].bytes == Array("hello".utf8) && operations[1].offset == 0)
        #expect(operations[2].bytes == Array("J".utf8) && operations[2].size == 5)
        #expect(operations[3].offset == 3)
        #expect(operations[5].path == "a" && operations[5].destination == "b")
        #expect(Set(operations[0...5].map(\.file)).count == 1)
    }

    @Test func foundationIsSeen() throws {
        let observer = try observe {
            try Data("one".utf8).write(to: URL(fileURLWithPath: "\(path)/one"))
            try Data("two".utf8).write(to: URL(fileURLWithPath: "\(path)/two"), options: .atomic)
            let file = try #require(FileHandle(forUpdatingAtPath: "\(path)/one"))
            try file.seekToEnd()
            try file.write(contentsOf: Data("more".utf8))
            try file.synchronize()
            try file.close()
            try FileManager.default.moveItem(atPath: "\(path)/two", toPath: "\(path)/three")
            try FileManager.default.copyItem(atPath: "\(path)/one", toPath: "\(path)/four")
            try FileManager.default.createDirectory(atPath: "\(path)/d/e", withIntermediateDirectories: true)
            try FileManager.default.removeItem(atPath: "\(path)/one")
        }
        var log = FileLog()
        for operation in observer.operations { log.add(operation) { _ in nil } }
        let image = PowerLoss(.nothing, seed: 0).image(of: log, at: log.entries.count)
        #expect(try image == FolderImage(reading: path))
    }

    @Test func otherFoldersAndLaterCallsAreNotSeen() throws {
        let observer = try observe {
            try Data("x".utf8).write(to: URL(fileURLWithPath: "\(path)-other"))
            try FileManager.default.removeItem(atPath: "\(path)-other")
        }
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(path)/x"))
        #expect(observer.kinds.isEmpty)
    }

    @Test func callsFailAsIsDecided() throws {
        let observer = Observer { $0.kind == .write ? .fail(EIO) : .perform }
        try observe(observer) {
            let file = open("\(path)/a", O_RDWR | O_CREAT, 0o644)
            #expect(write(file, "hello", 5) == -1 && errno == EIO)
            close(file)
            #expect(throws: CocoaError.self) {
                try Data("x".utf8).write(to: URL(fileURLWithPath: "\(path)/x"))
            }
        }
        #expect(FileManager.default.contents(atPath: "\(path)/a") == Data())
    }

    @Test func aWriteIsCutAsIsDecided() throws {
        let observer = Observer { $0.kind == .write ? .cut(2) : .perform }
        try observe(observer) {
            let file = open("\(path)/a", O_RDWR | O_CREAT, 0o644)
            #expect(write(file, "hello", 5) == 2)
            close(file)
        }
        #expect(observer.operations.last?.bytes == Array("he".utf8))
        #expect(FileManager.default.contents(atPath: "\(path)/a") == Data("he".utf8))
    }

    @Test func relativePathsAndDescriptorsOfFoldersAreFollowed() throws {
        let observer = try observe {
            let here = open(path, O_RDONLY | O_DIRECTORY)
            let file = openat(here, "./a", O_WRONLY | O_CREAT, 0o644)
            let copy = dup(file)
            #expect(write(copy, "x", 1) == 1)
            #expect(renameat(here, "a", here, "../\((path as NSString).lastPathComponent)/b") == 0)
            #expect(write(file, "y", 1) == 1)
            #expect(unlinkat(here, "b", 0) == 0)
            #expect(fsync(here) == 0)
            for descriptor in [here, file, copy] { close(descriptor) }
        }
        #expect(observer.kinds == [.open, .create, .write, .rename, .write, .unlink, .syncDirectory])
        #expect(observer.operations[3].destination == "b")
        #expect(observer.operations[4].path == "b")
    }

    @Test func aWriteThatWaitsForTheDiskSaysSo() throws {
        let observer = try observe {
            let file = open("\(path)/a", O_WRONLY | O_CREAT | O_DSYNC | O_APPEND, 0o644)
            #expect(write(file, "x", 1) == 1)
            #expect(write(file, "y", 1) == 1)
            close(file)
        }
        #expect(observer.operations.dropFirst().map(\.isSynced) == [true, true])
        #expect(observer.operations.map(\.offset) == [0, 0, 1])
    }

    @Test func threadsAreToldOfOneAtATime() throws {
        let depth = Mutex(0)
        let most = Mutex(0)
        let observer = Observer { _ in
            let now = depth.withLock { depth in
                depth += 1
                return depth
            }
            most.withLock { $0 = max($0, now) }
            depth.withLock { $0 -= 1 }
            return .perform
        }
        let path = path
        try observe(observer) {
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                let file = open("\(path)/\(thread)", O_RDWR | O_CREAT, 0o644)
                for _ in 0..<200 { _ = write(file, "x", 1) }
                close(file)
            }
        }
        #expect(most.withLock { $0 } == 1)
        #expect(observer.kinds.filter { $0 == .write }.count == 1_600)
    }
}
#endif
