internal import Foundation
internal import TidelineStore

extension ConformanceSuite {
    /// Creates a store with rows that the suite knows, to be kept as a fixture.
    ///
    /// Call this method when a release introduces a new on-disk format. Pass a subdirectory, named after the format, of
    /// the directory that ``StoreHarness/fixtures`` names, and check it in.
    ///
    /// - Parameter directory: A directory that is empty or does not exist.
    /// - Throws: Errors of the store; ``StoreError/Code/unsupported`` if the directory is not empty.
    public func makeFixture(in directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        guard try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty else {
            throw StoreError(.unsupported, "the directory for a new fixture is not empty", path: directory)
        }
        // Some stores move rows between their files when they are opened.
        for table in FixtureContent.tables {
            let store = try harness.open(StoreOpening(directory: directory))
            do { try FixtureContent.fill(table, in: store) } catch {
                try? store.close()
                throw error
            }
            try store.close()
        }
    }
}
