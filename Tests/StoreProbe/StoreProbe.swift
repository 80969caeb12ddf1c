import BrokenStores
import Foundation
import SortedFileStore
import TidelineConformance
import TidelineLMDB
import TidelineLevelDB
import TidelineMemory
import TidelinePostgreSQL
import TidelineSQLite
import TidelineStore
import TidelineTestSupport

/// The second process of the tests: `StoreProbe <engine> --conformance-job <job>` performs a job of the conformance
/// suite on stores of that engine, in the folders that `StoreKind` uses. See ``Editing`` for its other mode.
@main
enum StoreProbe {
    /// A busy machine may exceed the stores' default time limits.
    private static let patience = Duration.seconds(WaitLimit.seconds)

    private static let engines: [String: @Sendable (_ path: String) throws -> any LocalStore] = [
        "sqlite": { try SQLiteStore(path: $0, options: SQLiteOptions(busyTimeout: patience)) },
        "sqlite-checksums": {
            try SQLiteStore(path: $0, options: SQLiteOptions(busyTimeout: patience, checksums: true))
        },
        "lmdb": { try LMDBStore(path: $0, options: LMDBOptions(busyTimeout: patience)) },
        "leveldb": { try LevelDBStore(path: $0) },
        "memory": { _ in try MemoryStore() },
        "sorted": { try SortedFileStore(path: $0) },
    ]

    /// Opens a store twice, and prints what SQLite logs.
    private static func printLog(_ open: (_ path: String) throws -> any LocalStore, _ folder: String) throws {
        typealias Log = @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?) -> Void
        // Swift cannot call a function with a variable number of arguments.
        typealias Configure = @convention(c) (_ option: Int32, Log, _ context: UnsafeMutableRawPointer?) -> Int32
        let optionLog: Int32 = 16
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "sqlite3_config"),
            unsafeBitCast(symbol, to: Configure.self)(
                optionLog, { _, _, message in message.map { print(String(cString: $0)) } }, nil) == 0
        else { exit(70) }
        for _ in 0..<2 { try open("\(folder)/store").close() }
    }

    static func main() {
        do {
            try run()
        } catch {
            FileHandle.standardError.write(Data("StoreProbe: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() throws {
        if let name = CommandLine.arguments.dropFirst().first, let open = engines[name] {
            let words = CommandLine.arguments.dropFirst(2)
            if words.first == "--log", let folder = words.last { return try printLog(open, folder) }
            if words.first == Editing.marker, words.count == 2, let folder = words.last {
                return try Editing(store: try open("\(folder)/store")).run()
            }
            let harness = StoreHarness(modes: []) { try open("\($0.directory)/store") }
            if let status = ConformanceChild.run(arguments: CommandLine.arguments, harness: harness) { exit(status) }
        }
        // A store in a database, with a schema for each folder: `postgresql:host=… dbname=…`.
        if let name = CommandLine.arguments.dropFirst().first, name.hasPrefix("postgresql:") {
            let connection = String(name.dropFirst("postgresql:".count))
            let harness = StoreHarness(modes: []) { opening in
                let options = PostgreSQLOptions(
                    schema: schemaName(ofFolder: opening.directory), busyTimeout: patience, responseTimeout: patience)
                return try PostgreSQLStore(connection: connection, options: options)
            }
            if let status = ConformanceChild.run(arguments: CommandLine.arguments, harness: harness) { exit(status) }
        }
        // A plain store has a separate folder and optionally a flaw: `plain`, `plain:nullsLast`, `plain-shared`.
        if let name = CommandLine.arguments.dropFirst().first, name.hasPrefix("plain") {
            let parts = name.split(separator: ":", maxSplits: 1)
            let flaw = parts.count > 1 ? Flaw(rawValue: String(parts[1])) : nil
            let isShared = parts.first == "plain-shared"
            let harness = StoreHarness(modes: []) { try PlainStore($0, flaw: flaw, isShared: isShared) }
            if let status = ConformanceChild.run(arguments: CommandLine.arguments, harness: harness) { exit(status) }
        }
        let names = engines.keys.sorted().joined(separator: "|")
        FileHandle.standardError.write(Data("usage: StoreProbe \(names) --conformance-job <job>\n".utf8))
        exit(64)
    }
}
