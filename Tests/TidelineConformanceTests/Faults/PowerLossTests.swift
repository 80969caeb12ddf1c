import Testing

@testable import TidelineConformance

/// Tests which part of a log of file changes is on the disk after a power loss.
@Suite struct PowerLossTests {
    private func log(_ operations: [FileOperation]) -> FileLog {
        var log = FileLog()
        for operation in operations { log.add(operation) { _ in nil } }
        return log
    }

    private func bytes(_ byte: UInt8, _ count: Int) -> [UInt8] { Array(repeating: byte, count: count) }

    private func create(_ path: String, _ file: UInt64) -> FileOperation {
        FileOperation(.create, path: path, file: file)
    }

    private func write(_ file: UInt64, _ byte: UInt8, at offset: Int, count: Int, synced: Bool = false) -> FileOperation
    {
        FileOperation(
            .write, path: "f", file: file, offset: offset, length: count, bytes: bytes(byte, count), isSynced: synced)
    }

    private func sync(_ file: UInt64) -> FileOperation { FileOperation(.sync, path: "f", file: file) }

    private func images(_ extent: PowerLoss.Extent, _ log: FileLog, count: UInt64 = 200) -> Set<FolderImage> {
        Set((0..<count).map { PowerLoss(extent, seed: $0).image(of: log, at: log.entries.count) })
    }

    @Test func whatWasSyncedIsThere() {
        let log = log([create("f", 1), write(1, 7, at: 0, count: 1_000), sync(1), write(1, 8, at: 0, count: 2_000)])
        let image = PowerLoss(.everything, seed: 1).image(of: log, at: 4)
        #expect(image.files == ["f": bytes(7, 1_000)])
    }

    @Test func aSyncOfAnyFileKeepsAllNamesBeforeIt() {
        let log = log([create("f", 1), create("g", 2), write(1, 7, at: 0, count: 10), sync(2), create("h", 3)])
        let image = PowerLoss(.everything, seed: 1).image(of: log, at: 5)
        #expect(image.files == ["f": [], "g": []])
    }

    @Test func anUnsyncedRenameMayBeLostButNotTornFromWhatCameBefore() {
        let log = log([
            create("new", 1), write(1, 7, at: 0, count: 10), sync(1),
            FileOperation(.rename, path: "new", destination: "f", file: 1), create("later", 2),
        ])
        let names = Set(images(.anything, log).map { $0.files.keys.sorted() })
        #expect(names == [["new"], ["f"], ["f", "later"]])
    }

    @Test func aSectorHasWhatItHadAtSomeMoment() {
        let log = log([
            create("f", 1), sync(1), write(1, 1, at: 0, count: 512), write(1, 2, at: 0, count: 100),
            write(1, 3, at: 100, count: 100),
        ])
        let found = Set(images(.anything, log).map { ($0.files["f"] ?? []).prefix(200).map { $0 } })
        // The last write never appears without the earlier write to the same sector.
        let (two, three) = (bytes(2, 100), bytes(3, 100))
        #expect(found == [[], bytes(1, 200), two + bytes(1, 100), two + three])
    }

    @Test func laterWritesMayBeThereWithoutEarlierOnes() {
        let log = log([create("f", 1), sync(1), write(1, 1, at: 0, count: 512), write(1, 2, at: 512, count: 512)])
        let hole = bytes(0, 512) + bytes(2, 512)
        #expect(images(.earlierWrites, log).map(\.files) == [["f": hole]])
        #expect(images(.anything, log).contains { $0.files["f"] == hole })
    }

    @Test func aTornWriteLacksAPartOfItself() {
        let log = log([create("f", 1), sync(1), write(1, 1, at: 0, count: 512), write(1, 2, at: 512, count: 1_500)])
        let found = images(.tornWrite, log).map { $0.files["f"] ?? [] }
        #expect(found.allSatisfy { $0.prefix(512).allSatisfy { $0 == 1 } && $0.filter { $0 == 2 }.count < 1_500 })
        #expect(found.contains { $0.count == 2_012 })
        #expect(found.contains { $0.count == 1_024 })
    }

    @Test func aWriteThatWaitedForTheDiskIsThereWithWhatWasInItsSectors() {
        let log = log([
            create("f", 1), sync(1), write(1, 1, at: 0, count: 600), write(1, 2, at: 10, count: 10, synced: true),
        ])
        let image = PowerLoss(.everything, seed: 1).image(of: log, at: 4)
        let content = image.files["f"] ?? []
        #expect(content.count == 512)
        #expect(content[0] == 1 && content[10] == 2 && content[511] == 1)
    }

    @Test func whatWasWrittenBehindALostCutIsLost() {
        let log = log([
            create("f", 1), write(1, 1, at: 0, count: 1_024), sync(1),
            FileOperation(.resize, path: "f", file: 1, size: 1_024, offset: 0), write(1, 2, at: 0, count: 512),
        ])
        #expect(Set(images(.anything, log).map { $0.files["f"] ?? [] }) == [bytes(1, 1_024), [], bytes(2, 512)])
    }

    @Test func foldersAreRenamedWithTheirFiles() {
        let log = log([
            FileOperation(.makeDirectory, path: "a"), create("a/f", 1), create("ab", 2),
            FileOperation(.rename, path: "a", destination: "b"),
        ])
        let image = PowerLoss(.nothing, seed: 1).image(of: log, at: 4)
        #expect(image.files == ["b/f": [], "ab": []])
        #expect(image.folders == ["b"])
    }

    @Test func theSameSeedLosesTheSame() {
        let log = log([create("f", 1)] + (0..<40).map { write(1, UInt8($0), at: $0 * 300, count: 900) })
        let losses = (0..<3).map { _ in PowerLoss(.anything, seed: 5).image(of: log, at: 30) }
        #expect(Set(losses).count == 1)
        #expect(images(.anything, log, count: 50).count > 40)
    }
}
