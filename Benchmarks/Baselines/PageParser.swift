internal import CBaselines
internal import Synchronization
internal import TidelineBenchmark

/// A reader of JSON, by simdjson, to packed rows.
///
/// `@unchecked Sendable`: the parser is used within the lock only.
final class PageParser: @unchecked Sendable {
    private let table: BaselineTable
    private let handle: OpaquePointer
    private let failure = FailureText()
    private let lock = Mutex(())

    init(_ table: BaselineTable) throws {
        self.table = table
        var made: OpaquePointer?
        do throws(BaselineError) {
            try failure.check(baseline_make_parser(table.pointer, &made, failure.pointer))
            guard let made else { throw BaselineError("no parser was made") }
            handle = made
        } catch {
            failure.deallocate()
            throw error
        }
    }

    deinit {
        baseline_destroy_parser(handle)
        failure.deallocate()
    }

    /// Reads pages and calls `body` with their rows and the greatest time of a change.
    /// - Returns: How many rows there were.
    func parse(
        _ pages: some Sequence<[UInt8]>, _ body: (_ rows: baseline_rows, _ token: Int64) throws -> Void
    ) throws -> Int {
        try lock.withLock { _ in
            baseline_forget_rows(handle)
            for page in pages {
                try page.withUnsafeBufferPointer {
                    try failure.check(baseline_parse(handle, $0.baseAddress, $0.count, failure.pointer))
                }
            }
            let rows = baseline_parsed_rows(handle)
            try body(rows, baseline_parsed_token(handle))
            return rows.count
        }
    }

    /// Reads a page and every value of its rows.
    func parseAndRead(_ page: [UInt8]) throws -> baseline_answer {
        try lock.withLock { _ in
            baseline_forget_rows(handle)
            try page.withUnsafeBufferPointer {
                try failure.check(baseline_parse(handle, $0.baseAddress, $0.count, failure.pointer))
            }
            return baseline_parsed_answer(handle)
        }
    }
}

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
