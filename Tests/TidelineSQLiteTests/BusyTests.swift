import Testing
import TidelineSQLite
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// A lock that another store, of this process or another, holds for too long.
@Suite struct BusyTests {
    @Test func aLockHeldForTooLongIsBusy() throws {
        try withTemporaryFolder { folder throws in
            let path = "\(folder)/store.sqlite"
            let holder = try SQLiteStore(path: path)
            try holder.define([TableSchema("t", columns: [])])
            let other = try SQLiteStore(path: path, options: SQLiteOptions(busyTimeout: .milliseconds(20)))
            try holder.write { writer throws in
                try writer.upsert(["id": "1"], into: "t")
                let error = expectError(.busy) { try other.write { try $0.upsert(["id": "2"], into: "t") } }
                #expect(error?.engineCode != nil)
                #expect(try other.read { try $0.count(Query("t")) } == 0)
            }
            try other.write { try $0.upsert(["id": "2"], into: "t") }
            #expect(try holder.read { try $0.count(Query("t")) } == 2)
            try other.close()
            try holder.close()
        }
    }
}
