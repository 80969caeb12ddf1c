internal import Foundation
internal import TidelineStore
internal import TidelineWire

/// The readers of JSON that are measured beside each other.
public enum JSONSubjects {
    /// Tideline's, and Foundation's two.
    public static var all: [BenchmarkSubject] {
        [
            tideline,
            subject("JSONSerialization", .other) { DictionaryJSONReader($0) },
            subject("JSONDecoder", .other) { try CodableJSONReader($0) },
        ]
    }

    /// Tideline's parser.
    public static let tideline = subject("Tideline", .store) {
        try PackedJSONReader(PageParser(schema: $0.schema))
    }

    private static func subject(
        _ name: String, _ kind: BenchmarkSubject.Kind,
        _ makeReader: @escaping @Sendable (BenchmarkTable) throws -> any JSONReader
    ) -> BenchmarkSubject {
        BenchmarkSubject(
            name: name, kind: kind, field: .json, engine: "json", durability: .none, isPersistent: false
        ) { opening in JSONSession(try makeReader(opening.table)) }
    }
}

/// Reads one page of rows, and every value in them.
protocol JSONReader: Sendable {
    func read(_ page: [UInt8]) throws -> Answer
}

/// A reader of JSON at work.
final class JSONSession: BenchmarkSession {
    private let reader: any JSONReader

    init(_ reader: any JSONReader) { self.reader = reader }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        guard case .parse(let pages) = work else { throw WorkNotApplicable("reads JSON only") }
        var answer = Answer()
        for body in pages.bodies { answer += try latencies.time { try reader.read(body) } }
        return answer
    }

    func close() {}
}

/// The parser of a pull, used as a pull does.
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
