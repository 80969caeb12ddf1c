#if Commands
internal import CBaselines
internal import Synchronization
internal import TidelineBenchmark

/// A JSON parser that uses simdjson and produces packed rows.
///
/// `@unchecked Sendable`: the C parser is used inside the lock only.
final class PageParser: @unchecked Sendable {
    private let table: BaselineTable
    private let handle: OpaquePointer
    private let failure = ErrorBuffer()
    private let lock = Mutex(())

    init(_ table: BaselineTable) throws {
        self.table = table
        var created: OpaquePointer?
        do throws(BaselineError) {
            try failure.check(baseline_make_parser(table.pointer, &created, failure.pointer))
            guard let created else { throw BaselineError("the C code returned no parser") }
            handle = created
        } catch {
            failure.deallocate()
            throw error
        }
    }

    deinit {
        baseline_destroy_parser(handle)
        failure.deallocate()
    }

    /// Parses pages and calls `body` with their rows and the greatest `updatedAt`.
    /// - Returns: The number of rows.
    func parse(
        _ pages: some Sequence<[UInt8]>, _ body: (_ rows: baseline_rows, _ token: Int64) throws -> Void
    ) throws -> Int {
        try lock.withLock { _ in
            baseline_forget_rows(handle)
            for page in pages { try add(page) }
            let rows = baseline_parsed_rows(handle)
            try body(rows, baseline_parsed_token(handle))
            return rows.count
        }
    }

    /// Parses a page and reads every value of its rows.
    func parseAndRead(_ page: [UInt8]) throws -> baseline_answer {
        try lock.withLock { _ in
            baseline_forget_rows(handle)
            try add(page)
            return baseline_parsed_answer(handle)
        }
    }

    private func add(_ page: [UInt8]) throws(BaselineError) {
        let result = page.withUnsafeBufferPointer { baseline_parse(handle, $0.baseAddress, $0.count, failure.pointer) }
        try failure.check(result)
    }
}

/// A session of the JSON parser.
final class PageParserSession: BenchmarkSession {
    private let parser: PageParser

    init(_ opening: BenchmarkOpening) throws { parser = try PageParser(BaselineTable(opening.table)) }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        guard case .parse(let pages) = work else { throw WorkNotApplicable("parses JSON only") }
        return try latencies.each(pages.bodies) { Answer(try parser.parseAndRead($0)) }
    }

    func close() {}
}
#endif
