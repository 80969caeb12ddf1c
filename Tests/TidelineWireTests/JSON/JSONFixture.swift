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

/// Returns whether a value equals what Foundation reads from the same JSON.
func isSame(_ value: Value?, _ other: Any?, doublesWithin tolerance: Double = 0) -> Bool {
    let text = other as? String
    switch value {
    case nil: return other == nil
    case .null?: return other is NSNull
    case .bool(let bool)?: return other as? Bool == bool
    case .int(let int)?: return (other as? NSNumber)?.int64Value == int
    case .double(let double)?:
        guard let other = (other as? NSNumber)?.doubleValue else { return false }
        return abs(double - other) <= abs(double) * tolerance
    case .string(let string)?: return text.map { $0.utf8.elementsEqual(string.utf8) } ?? false
    case .timestamp(let instant)?: return text.flatMap { Timestamp($0) } == instant
    case .bytes(let bytes)?:
        // Foundation requires the padding, which a mutation may have removed.
        guard let text else { return false }
        let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: padded).map { Array($0) } == bytes
    case .json(let json)?:
        let parsed = try? JSONSerialization.jsonObject(with: Data(json.utf8))
        return parsed != nil && (parsed as? NSObject) == (other as? NSObject)
    }
}

/// Returns whether JSON has an escaped half of a surrogate pair, which RFC 8259 admits and Foundation does not.
func hasHalfOfPair(_ json: [UInt8]) -> Bool {
    let text = String(decoding: json, as: UTF8.self).replacing(#"\\"#, with: "_")
    return text.replacing(/\\u[dD][89abAB]..\\u[dD][c-fC-F]../, with: "_").contains(/\\u[dD][89a-fA-F]/)
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
