#if Commands
internal import Foundation
internal import TidelineStore
internal import TidelineWire

/// The JSON parsers to compare.
package enum JSONSubjects {
    /// Tideline's parser and the two of Foundation.
    package static var all: [BenchmarkSubject] {
        [
            tideline,
            subject("JSONSerialization", .other) { DictionaryJSONReader($0) },
            subject("JSONDecoder", .other) { try CodableJSONReader($0) },
        ]
    }

    /// Tideline's parser, which pulls use.
    package static let tideline = subject("Tideline", .store) {
        try PackedJSONReader(PageParser(schema: $0.schema))
    }

    private static func subject(
        _ name: String, _ kind: BenchmarkSubject.Kind,
        _ makeReader: @escaping @Sendable (BenchmarkTable) throws -> any JSONReader
    ) -> BenchmarkSubject {
        BenchmarkSubject(
            name: name, kind: kind, engine: "json", durability: .none, isPersistent: false
        ) { opening in JSONSession(try makeReader(opening.table)) }.performing(.json)
    }
}

/// Parses a page of rows and reads every value.
protocol JSONReader: Sendable {
    func read(_ page: [UInt8]) throws -> Answer
}

/// A session of a JSON parser.
final class JSONSession: BenchmarkSession {
    private let reader: any JSONReader

    init(_ reader: any JSONReader) { self.reader = reader }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        guard case .parse(let pages) = work else { throw WorkNotApplicable("parses JSON only") }
        return try latencies.each(pages.bodies) { try reader.read($0) }
    }

    func close() {}
}

/// Parses to packed rows, as a pull does.
private struct PackedJSONReader: JSONReader {
    let parser: PageParser
    let columns: BenchmarkColumns

    init(_ parser: PageParser) throws {
        self.parser = parser
        columns = try BenchmarkColumns(parser.shape)
    }

    func read(_ page: [UInt8]) throws -> Answer {
        var rows = PackedRows(shape: parser.shape, byteCapacity: page.count)
        _ = try parser.parsePage(page, into: &rows)
        var answer = Answer(count: rows.count)
        rows.forEachRow { answer.checksum &+= columns.number(viewing: $0) }
        return answer
    }
}

/// Parses to dictionaries with `JSONSerialization`, the row type of the original SDK.
struct DictionaryJSONReader: JSONReader {
    private let columns: [ColumnSchema]

    init(_ table: BenchmarkTable) { columns = table.schema.makeShape().columns }

    func read(_ page: [UInt8]) throws -> Answer {
        guard let rows = try JSONSerialization.jsonObject(with: Data(page)) as? [[String: Any]] else {
            throw BenchmarkError("the page lacks an array of objects")
        }
        var answer = Answer(count: rows.count)
        for row in rows { answer.checksum &+= try number(row) }
        return answer
    }

    private func number(_ row: [String: Any]) throws -> UInt64 {
        guard let id = row["id"] as? String else { throw BenchmarkError("the page lacks an id") }
        var number = RowChecksum.start
        RowChecksum.mix(&number, RowChecksum.value(of: id))
        for column in columns { RowChecksum.mix(&number, try value(of: row[column.name], column)) }
        return number
    }

    private func value(of value: Any?, _ column: ColumnSchema) throws -> UInt64 {
        guard let value, !(value is NSNull) else { return RowChecksum.null }
        switch column.type {
        case .string: if let value = value as? String { return RowChecksum.value(of: value) }
        case .int: if let value = value as? Int64 { return RowChecksum.value(of: value) }
        case .double: if let value = value as? Double { return value.bitPattern }
        case .bool: if let value = value as? Bool { return RowChecksum.value(of: value) }
        case .timestamp:
            if let text = value as? String { return RowChecksum.value(of: try FoundationDate.read(text)) }
        case .bytes, .json: break
        }
        throw BenchmarkError("the page lacks \(column.type) in the column \(column.name)")
    }
}

/// Parses to a `Decodable` type of the app with `JSONDecoder`.
struct CodableJSONReader: JSONReader {
    private let decoder: JSONDecoder

    init(_ table: BenchmarkTable) throws {
        guard table.schema.columns.count + 2 <= BenchmarkTable.leastColumns else {
            throw WorkNotApplicable("the Decodable type has the first ten columns only")
        }
        decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            try Date(decoder.singleValueContainer().decode(String.self), strategy: FoundationDate.style)
        }
    }

    func read(_ page: [UInt8]) throws -> Answer {
        let rows = try decoder.decode([Item].self, from: Data(page))
        return Answer(count: rows.count, checksum: rows.reduce(0) { $0 &+ $1.number })
    }

    /// A row as an app declares it.
    private struct Item: Decodable {
        var id: String
        var text: String
        var list: String
        var rank: Int64
        var done: Bool
        var score: Double
        var due: Date
        var note: String?
        var owner: String
        var updatedAt: Date
        var version: String

        var number: UInt64 {
            var number = RowChecksum.start
            for text in [id, text, list] { RowChecksum.mix(&number, RowChecksum.value(of: text)) }
            RowChecksum.mix(&number, RowChecksum.value(of: rank))
            RowChecksum.mix(&number, RowChecksum.value(of: done))
            RowChecksum.mix(&number, score.bitPattern)
            RowChecksum.mix(&number, RowChecksum.value(of: FoundationDate.ticks(due)))
            RowChecksum.mix(&number, note.map { RowChecksum.value(of: $0) } ?? RowChecksum.null)
            RowChecksum.mix(&number, RowChecksum.value(of: owner))
            RowChecksum.mix(&number, RowChecksum.value(of: FoundationDate.ticks(updatedAt)))
            RowChecksum.mix(&number, RowChecksum.value(of: version))
            return number
        }
    }
}

/// Dates parsed with Foundation, to the millisecond.
private enum FoundationDate {
    static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    static func read(_ text: String) throws -> Int64 { ticks(try Date(text, strategy: style)) }

    static func ticks(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1000).rounded()) * Timestamp.ticksPerMillisecond
    }
}
#endif
