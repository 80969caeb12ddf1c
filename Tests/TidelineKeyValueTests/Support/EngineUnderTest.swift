import SortedFileStore
import Testing
import TidelineKeyValue
import TidelineLMDB
import TidelineLevelDB
import TidelineMemory
import TidelineStore
import TidelineTestSupport

/// An engine that is tested against the documentation of ``OrderedKeyValueEngine``. To add an engine, add a case to
/// ``all``.
struct EngineUnderTest: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var isPersistent = true
    /// Opens the engine in a folder, or creates an empty one if it is not persistent.
    let open: @Sendable (_ folder: String) throws -> any OrderedKeyValueEngine

    static let all: [EngineUnderTest] = [
        EngineUnderTest(testDescription: "memory", isPersistent: false) { _ in MemoryEngine() },
        EngineUnderTest(testDescription: "LMDB") { try LMDBEngine(path: "\($0)/store") },
        EngineUnderTest(testDescription: "LevelDB") { try LevelDBEngine(path: "\($0)/store") },
        EngineUnderTest(testDescription: "sorted file") { try SortedFileEngine(path: "\($0)/log") },
    ]

    /// Calls `body` with an empty engine.
    func withEngine<T>(_ body: (any OrderedKeyValueEngine) throws -> T) throws -> T {
        try withTemporaryFolder { folder in
            let engine = try open(folder)
            do {
                let result = try body(engine)
                try engine.close()
                return result
            } catch {
                try? engine.close()
                throw error
            }
        }
    }
}
