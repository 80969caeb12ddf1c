internal import Foundation
internal import TidelineStore

extension ConformanceSuite {
    /// Makes a store with rows that the suite knows, to be kept for as long as there are such stores.
    ///
    /// Call it when a release has a new format on disk, with a folder named after the format in the folder that
    /// ``StoreHarness/fixtures`` names, and check the folder in.
    ///
    /// - Parameter directory: A folder that is empty or does not exist.
    /// - Throws: What the store throws; ``StoreError/Code/unsupported`` when the folder is not empty.
    public func makeFixture(in directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        guard try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty else {
            throw StoreError(.unsupported, "the folder for a new fixture is not empty", path: directory)
        }
        // Some stores move rows between their files when they open.
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
