import Foundation
import TidelineSQLite
import TidelineStore

/// A second process for tests: `StoreProbe <path> <prefix> <count>` writes `count` transactions, each of one row with
/// the same number in two tables, and prints a number when its transaction is committed.
@main
enum StoreProbe {
    static let tables = ["left", "right"].map { TableSchema($0, columns: [.int("n"), .string("text")]) }

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let count = Int64(arguments[3]) else {
            FileHandle.standardError.write(Data("usage: StoreProbe <path> <prefix> <count>\n".utf8))
            exit(64)
        }
        let store = try SQLiteStore(path: arguments[1])
        try store.define(tables)
        for number in 0..<count {
            let text = String(repeating: "x", count: Int(number % 50) * 100)
            let row: Row = ["id": .string("\(arguments[2])\(number)"), "n": .int(number), "text": .string(text)]
            try store.write { writer in
                for table in tables { try writer.upsert(row, into: table.name) }
            }
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
        }
        try store.close()
    }
}
