import Foundation
import Testing
import TidelineLMDB
import TidelineLive
import TidelineSQLite
import TidelineStore
import TidelineTestSupport

@Suite("Signals between processes")
struct CommitSignalTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private let second: UInt64 = 1_000_000_000

    @Test("A signal wakes all that wait, through each mapping of the file")
    func wakes() throws {
        let signals = try (0..<3).map { _ in try #require(CommitSignal(path: "\(folder.path)/signal")) }
        for _ in 0..<100 {
            let number = signals[0].number
            let group = DispatchGroup()
            for signal in signals {
                start(in: group) {
                    #expect(signal.wait(whileNumberIs: number, nanoseconds: 3_600 * second))
                }
            }
            signals[0].send()
            try group.finish()
            #expect(signals.allSatisfy { $0.number != number })
        }
    }

    @Test("No signal is lost while threads begin to wait")
    func isNotLost() throws {
        let signals = try (0..<2).map { _ in try #require(CommitSignal(path: "\(folder.path)/signal")) }
        let first = signals[0].number
        let group = DispatchGroup()
        for (own, other) in [(signals[0], signals[1]), (signals[1], signals[0])] {
            start(in: group) {
                // Each of the two sends only after the other one, so that a lost signal would stop both.
                for turn in 0..<20_000 where turn % 2 == (own === signals[0] ? 0 : 1) {
                    // Reading the number a second time could wait for the signal after the awaited one.
                    var number = own.number
                    while number &- first < UInt32(turn) {
                        _ = own.wait(whileNumberIs: number, nanoseconds: 3_600 * second)
                        number = own.number
                    }
                    other.send()
                }
            }
        }
        try group.finish()
        #expect(signals[0].number &- first == 20_000)
    }

    @Test("Without a signal, a wait ends after its time; with an earlier one, at once")
    func ends() throws {
        let signal = try #require(CommitSignal(path: "\(folder.path)/signal"))
        let number = signal.number
        #expect(!signal.wait(whileNumberIs: number, nanoseconds: 1_000_000))
        signal.send()
        #expect(signal.wait(whileNumberIs: number, nanoseconds: 3_600 * second))
    }

    @Test("A file of something else, a link, and a folder are left alone")
    func otherFiles() throws {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/mine"))
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/link", withDestinationPath: "\(folder.path)/target")
        for name in ["mine", "link", ".", "no/folder"] { #expect(CommitSignal(path: "\(folder.path)/\(name)") == nil) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/mine")) == Data("mine".utf8))
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/target"))
    }

    @Test("Stores over the same files have the same file, and remove it with theirs")
    func files() throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/link", withDestinationPath: "\(folder.path)/s")
        for isLMDB in [false, true] {
            func open(_ name: String, isReadOnly: Bool = false) throws -> AnyStore {
                let path = "\(folder.path)/\(name)"
                return AnyStore(
                    try isLMDB
                        ? LMDBStore(path: path, options: LMDBOptions(isReadOnly: isReadOnly))
                        : SQLiteStore(path: path, options: SQLiteOptions(isReadOnly: isReadOnly)))
            }
            let store = ObservedStore(try open("s"))
            let path = try #require(store.externalCommits?.signalPath)
            #expect(FileManager.default.fileExists(atPath: path))
            let linked = try open("link")
            // Through one path, the file is mapped by the other store.
            let number = try #require(CommitSignal(path: path)).number
            try #require(linked.externalCommits?.signalPath.flatMap { CommitSignal(path: $0) }).send()
            #expect(CommitSignal(path: path)?.number == number + 1)
            let reading = try open("s", isReadOnly: true)
            #expect(reading.externalCommits?.signalPath == nil)
            for store in [store.base, linked, reading] { try store.close() }
            try isLMDB ? LMDBStore.destroy(path: "\(folder.path)/s") : SQLiteStore.destroy(path: "\(folder.path)/s")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["link"])
        }
        #expect(try SQLiteStore.inMemory().externalCommits?.signalPath == nil)
    }

    /// Runs `body` on a thread of its own.
    private func start(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        Thread {
            body()
            group.leave()
        }.start()
    }
}
