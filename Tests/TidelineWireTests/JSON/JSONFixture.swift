import Foundation
import Testing
import TidelineStore

@testable import TidelineWire

/// A table with one column of each type, named after the type.
let everyTypeSchema = TableSchema(
    "Item",
    columns: [
        .bool("bool"), .int("int"), .double("double"), .string("string"), .timestamp("timestamp"), .bytes("bytes"),
        .json("json"),
    ])

extension PageParser {
    /// Returns the rows of a response and its page information.
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

/// Returns the error that `body` throws, or `nil` if it throws none.
func wireError<T>(_ body: () throws(WireError) -> T) -> WireError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// Expects that `body` throws a ``WireError`` with the given code and the given parts, and returns the error.
@discardableResult
func expectError<T>(
    _ code: WireError.Code, offset: Int? = nil, column: String? = nil, id: String? = nil, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
) -> WireError? {
    let error = #expect(throws: WireError.self, comment, sourceLocation: sourceLocation) { _ = try body() }
    let isExpected =
        error?.code == code && error?.offset == offset ?? error?.offset && error?.column == column ?? error?.column
        && error?.id == id ?? error?.id
    #expect(isExpected, "\(String(describing: error)) \(comment?.rawValue ?? "")", sourceLocation: sourceLocation)
    return error
}

func looseRow(_ json: String) throws(WireError) -> Row {
    try JSONRow.parse(Array(json.utf8))
}

func json(_ row: Row) -> String {
    var writer = JSONWriter()
    writer.append(row)
    return String(decoding: writer.bytes, as: UTF8.self)
}

/// The number of random inputs a test tries: `TIDELINE_FUZZ_ITERATIONS`, or a default for normal runs.
let fuzzIterations = ProcessInfo.processInfo.environment["TIDELINE_FUZZ_ITERATIONS"].flatMap { Int($0) } ?? 4000
