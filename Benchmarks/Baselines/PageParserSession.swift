internal import TidelineBenchmark

/// The work of readers of JSON, by simdjson: pages to packed rows.
final class PageParserSession: BenchmarkSession {
    private let parser: PageParser

    init(_ opening: BenchmarkOpening) throws { parser = try PageParser(BaselineTable(opening.table)) }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        guard case .parse(let pages) = work else { throw WorkNotApplicable("reads JSON only") }
        var answer = Answer()
        for page in pages.bodies {
            let found = try latencies.time { try parser.parseAndRead(page) }
            answer += Answer(count: Int(found.count), checksum: found.checksum)
        }
        return answer
    }

    func close() {}
}
