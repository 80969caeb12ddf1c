import Foundation
import TidelineStore

@testable import TidelineWire

/// A table with a column of every type, named after the type, for tests of the JSON of rows.
let everyTypeSchema = TableSchema(
    "Item",
    columns: [
        .bool("bool"), .int("int"), .double("double"), .string("string"), .timestamp("timestamp"), .bytes("bytes"),
        .json("json"),
    ])

extension PageParser {
    /// The rows and what else an answer says.
    func page(_ bytes: [UInt8]) throws(WireError) -> (rows: [Row], info: PageInfo) {
        var packed = PackedRows(shape: shape)
        let info = try parsePage(bytes, into: &packed)
        let rows = (0..<packed.count).map { index in packed.withRow(at: index) { $0.owned() } }
        return (rows, info)
    }

    func page(_ json: String) throws(WireError) -> (rows: [Row], info: PageInfo) { try page(Array(json.utf8)) }

    func row(_ json: String, requireID: Bool = true) throws(WireError) -> Row {
        try parseRow(Array(json.utf8), requireID: requireID)
    }
}

/// The error that `body` throws, nil when it throws none.
func wireError<T>(_ body: () throws(WireError) -> T) -> WireError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

func looseRow(_ json: String) throws(WireError) -> Row {
    try JSONRow.parse(Array(json.utf8))
}

func json(_ row: Row) -> String {
    var writer = JSONWriter()
    writer.append(row)
    return String(decoding: writer.bytes, as: UTF8.self)
}

/// How often a test tries random input: `TIDELINE_FUZZ_ITERATIONS`, or enough for every run of the suite.
let fuzzIterations = ProcessInfo.processInfo.environment["TIDELINE_FUZZ_ITERATIONS"].flatMap { Int($0) } ?? 4000
