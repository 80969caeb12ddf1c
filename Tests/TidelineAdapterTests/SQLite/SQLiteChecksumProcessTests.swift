import Foundation
import Testing
import TidelineSQLite
import TidelineStore
import TidelineSupport
import TidelineTestStores
import TidelineTestSupport

/// Tests that no page is written without its checksum, whatever other processes do during the first checkpoints.
///
/// `TIDELINE_KILL_ROUNDS` sets the number of kills (default 12), and `TIDELINE_SEED` their times.
@Suite struct SQLiteChecksumProcessTests {
    private static let kind = StoreKind.sqliteWithChecksums
    private static let kills = setting("TIDELINE_KILL_ROUNDS") ?? 12
    private static let table = GrowingTable.schema

    private static func setting(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

    /// The first page is in the log after the snapshot of the reader, so checkpoints skip it as long as the reader
    /// reads.
    @Test(
        "A checkpoint beside a reader writes checksums", arguments: ["new", "sqlite-checksums-log"], [true, false])
    func readerDuringFirstCheckpoint(_ origin: String, readerEndsFirst: Bool) throws {
        let files = try StoreFiles(Self.kind)
        if origin != "new" { try copyFixture(origin, to: files.path) }
        let store = try files.open()
        try store.define([Self.table])
        try store.write { try GrowingTable.add(0, length: 10, to: $0) }
        let reader = try EditingProcess(Self.kind, files.path)
        try reader.start("read")
        try reader.expect("reading")
        for number in 1...40 { try store.write { try GrowingTable.add(number, to: $0) } }
        let size = try FileManager.default.attributesOfItem(atPath: Self.kind.path(in: files.path))[.size] as? Int
        if readerEndsFirst { try reader.finish() }
        try store.close()
        if !readerEndsFirst { try reader.finish() }
        #expect(size ?? 0 > 4_096)
        let again = try files.open()
        #expect(again.capabilities.detectsBitFlips)
        try (again.base.base as? SQLiteStore)?.verify()
        #expect(try again.read { try $0.count(TableQuery(Self.table.name)) } == 41 * GrowingTable.rowsPerCommit)
        try again.close()
    }

    @Test("Processes that are killed while the store grows beside a reader leave each page with its checksum")
    func kills() throws {
        var random = SplitMix64(seed: UInt64(Self.setting("TIDELINE_SEED") ?? 1))
        var duration = Duration.milliseconds(300)
        var kills = 0
        while kills < Self.kills {
            let files = try StoreFiles(Self.kind)
            var expected = 0...0
            // One store is killed up to three times.
            for _ in 0..<min(Int.random(in: 1...3, using: &random), Self.kills - kills) {
                kills += 1
                let before = expected.upperBound
                let writer = try EditingProcess(Self.kind, files.path)
                try writer.start("grow \(before) \(before + 1)")
                try writer.expect("grown \(before)")
                let reader = Bool.random(using: &random) ? try EditingProcess(Self.kind, files.path) : nil
                try reader?.start("read")
                try reader?.expect("reading")
                try writer.expect("done")
                try writer.start("grow \(before + 1) \(before + 30)")
                let endsReaderFirst = Bool.random(using: &random)
                let start = ContinuousClock.now
                let moment = duration * Double.random(in: 0...1.2, using: &random)
                Thread.sleep(forTimeInterval: moment / .seconds(1))
                if endsReaderFirst { reader?.kill() }
                let lines = writer.killed()
                if lines.contains("done") { duration = ContinuousClock.now - start }
                if !endsReaderFirst { try reader?.finish() }
                let acknowledged = before + 1 + lines.count { $0.hasPrefix("grown") }
                expected = try Self.check(files, acknowledged...(acknowledged + 1), "kill \(kills)")
            }
        }
    }

    /// Returns the number of commits in a store, which must be within `expected`.
    private static func check(
        _ files: StoreFiles, _ expected: ClosedRange<Int>, _ comment: Comment
    ) throws -> ClosedRange<Int> {
        let store = try files.open()
        #expect(store.capabilities.detectsBitFlips, comment)
        try (store.base.base as? SQLiteStore)?.verify()
        let rows = try store.read { try $0.count(TableQuery(table.name)) }
        #expect(rows % GrowingTable.rowsPerCommit == 0, comment)
        let count = rows / GrowingTable.rowsPerCommit
        #expect(expected.contains(count), comment)
        try store.close()
        return count...count
    }
}
