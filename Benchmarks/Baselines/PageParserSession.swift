internal import TidelineBenchmark

/// The work of readers of JSON, by simdjson: pages to packed rows.
final class PageParserSession: BenchmarkSession {
    private let parser: PageParser

    init(_ opening: BenchmarkOpening) throws { parser = try PageParser(BaselineTable(opening.table)) }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        guard case .pull(let pages) = work else { throw WorkNotApplicable("a reader of JSON has no database") }
        var answer = Answer()
        for page in pages.bodies {
            answer.count += try latencies.time { try parser.parse(CollectionOfOne(page)) { _, _ in } }
        }
        return answer
    }

    func close() {}
}
