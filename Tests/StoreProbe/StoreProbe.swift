import Foundation
import SortedFileStore
import TidelineKeyValue
import TidelineLMDB
import TidelineLevelDB
import TidelineSQLite
import TidelineStore

/// A second process for tests: `StoreProbe <engine>:<path> <prefix> <count>` writes `count` transactions, each of one
/// row with the same number in two tables, and prints a number when its transaction is committed.
///
/// Where the store refuses, it prints the error's code on the error output and ends with status 1.
@main
enum StoreProbe {
    static let tables = ["left", "right"].map { TableSchema($0, columns: [.int("n"), .string("text")]) }

    static func main() throws {
        let arguments = CommandLine.arguments
        let location = arguments.count == 4 ? arguments[1].split(separator: ":", maxSplits: 1).map(String.init) : []
        guard location.count == 2, let count = Int64(arguments[3]) else {
            FileHandle.standardError.write(Data("usage: StoreProbe <engine>:<path> <prefix> <count>\n".utf8))
            exit(64)
        }
        do {
            let store = try openStore(location[0], location[1])
            try write(count, prefix: arguments[2], to: store)
            try store.close()
        } catch let error as StoreError {
            FileHandle.standardError.write(Data(error.code.rawValue.utf8))
            exit(1)
        }
    }

    static func openStore(_ engine: String, _ path: String) throws -> any LocalStore {
        switch engine {
        case "sqlite": return try SQLiteStore(path: path)
        case "lmdb": return try LMDBStore(path: path)
        case "leveldb": return try LevelDBStore(path: path)
        case "sorted": return try KeyValueStore(engine: SortedFileEngine(path: path))
        default: throw StoreError(.unsupported, "no engine of that name", path: path)
        }
    }

    static func write(_ count: Int64, prefix: String, to store: some LocalStore) throws {
        try store.define(tables)
        for number in 0..<count {
            let text = String(repeating: "x", count: Int(number % 50) * 100)
            let row: Row = ["id": .string("\(prefix)\(number)"), "n": .int(number), "text": .string(text)]
            try store.write { writer in
                for table in tables { try writer.upsert(row, into: table.name) }
            }
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
        }
    }
}
