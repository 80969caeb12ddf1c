import Testing
import TidelineStore
import TidelineTestSupport

@testable import TidelineSQLite

@Suite("SQLite durability")
struct SQLiteDurabilityTests {
    @Test(
        "Each level syncs when it promises, through the drive's cache",
        arguments: [
            (StoreCapabilities.Durability.full, ["synchronous": 2, "fullfsync": 1]),
            (.normal, ["synchronous": 1, "checkpoint_fullfsync": 1]),
        ])
    func syncs(durability: StoreCapabilities.Durability, settings: [String: Int64]) throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: "\(folder.path)/store.sqlite", options: SQLiteOptions(durability: durability))
        for (name, value) in settings {
            let found = try store.write { try $0.session.connection().integer("PRAGMA \(name)") }
            #expect(found == value, "\(name)")
        }
        try store.close()
    }
}
