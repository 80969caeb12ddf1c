public import Tideline
public import TidelineConformance
internal import TidelineMemory
public import TidelineStore

/// The conformance run for a dialect: real clients over memory stores, a server, and the faults of the network between
/// them.
///
/// The run verifies the promises of `CustomDialect`. It writes only rows that it has made, and deletes them afterwards.
/// The table must be empty or small, because each check pulls it several times. With Swift Testing:
///
/// ```swift
/// let dialect = DialectConformance(
///     url: "http://127.0.0.1:8888/v1", dialect: ServerDialect(MyDialect()), schema: schema,
///     transport: URLSessionTransport.shared)
///
/// @Test(arguments: DialectConformance.checks) func conforms(_ check: CheckSummary) async throws {
///     try await dialect.verify(check)
/// }
/// ```
public struct DialectConformance: Sendable {
    /// The address of the server, as a client takes it.
    public var url: String
    /// The table that the run may write. It needs a column of the type string, integer, double, or timestamp that is
    /// not a reference; every column without references is written.
    public var schema: TableSchema
    /// Sends the requests.
    public var transport: any Transport
    /// The options of the clients, with the dialect. The conflict policies, the logger, and the waits are those of the
    /// checks.
    public var options: SyncOptions
    /// The user whose token the clients send, if any; never part of a report.
    public var user: SignedInUser?
    /// Whether the dialect has change signals. If not, their check is skipped.
    public var hasChangeSignals = false
    /// Removes all rows of the table and all that the server knows of earlier ones, as a restored or emptied server
    /// does. Without it, the check is skipped.
    public var emptyServer: (@Sendable () async throws -> Void)?
    /// Lets the server give the next change its version and its time, but not show it before the returned closure is
    /// called, as a database does whose transactions commit in another order. Without it, the check is skipped.
    public var holdNextChange: (@Sendable () async throws -> @Sendable () async throws -> Void)?
    /// The time in which a change signal must lead to a pull.
    public var patience: Duration = .seconds(60)

    /// All checks, in the order in which they run and are reported. Their identifiers never change their meaning.
    public static let checks: [CheckSummary] = DialectCheck.all.map(\.summary)

    /// Creates a run. Nothing is sent yet.
    public init(
        url: String, dialect: ServerDialect, schema: TableSchema, transport: any Transport,
        options: SyncOptions = SyncOptions()
    ) {
        (self.url, self.schema, self.transport, self.options) = (url, schema, transport, options)
        self.options.dialect = dialect
    }

    /// Runs a check of ``checks``, and deletes its rows.
    public func run(_ check: CheckSummary) async -> CheckResult {
        guard let row = DialectCheck.all.first(where: { $0.summary.id == check.id }) else {
            return CheckResult(id: check.id, status: .notRun, reason: "there is no such check")
        }
        let (start, scene) = (ContinuousClock.now, DialectScene(suite: self))
        var result = CheckResult(id: check.id, status: .passed)
        do {
            try await row.body(scene)
        } catch let skip as SkippedCheck {
            result = CheckResult(id: check.id, status: .skipped, reason: skip.reason)
        } catch {
            // An error of a client is a verdict too: it reports a response that the dialect should have read otherwise.
            let message = error is BrokenPromise ? "\(error)" : "expected: no error; found: \(error)"
            let failure = CheckResult.Failure(message: message, seed: 1, script: scene.log)
            result = CheckResult(id: check.id, status: .failed, failure: failure)
        }
        await Task { await scene.removeRows() }.value
        result.seconds = (ContinuousClock.now - start) / .seconds(1)
        return result
    }

    /// Runs a check, and throws a ``ServerConformanceError`` with the expected and the actual behavior if the dialect
    /// does not keep the promise.
    public func verify(_ check: CheckSummary) async throws {
        let result = await run(check)
        guard result.status.isFailure else { return }
        let lines = ["\(check.id) \(check.promise)", result.failure?.message, result.failure?.script]
        throw ServerConformanceError(lines.compactMap { $0 }.joined(separator: "\n"))
    }

    /// Runs all checks, and returns the report; see ``TidelineConformance/ConformanceReport/text``.
    public func report() async -> ConformanceReport {
        let start = ContinuousClock.now
        var results: [CheckResult] = []
        for check in Self.checks where !Task.isCancelled { results.append(await run(check)) }
        let rest = Self.checks.dropFirst(results.count).map {
            CheckResult(id: $0.id, status: .notRun, reason: "the run ended before this check")
        }
        let address = url.prefix { $0 != "?" }
        return ConformanceReport(
            suite: SuiteSummary(version: SuiteSummary.current.version, checks: Self.checks.count),
            settings: ReportSettings(ConformanceSettings(), server: String(address)), isComplete: rest.isEmpty,
            checks: Self.checks,
            stores: [
                StoreReport(
                    name: "\(options.dialect)", capabilities: nil, results: results + rest,
                    seconds: (ContinuousClock.now - start) / .seconds(1), among: [])
            ])
    }
}

/// A promise of dialects, and the code that verifies it.
struct DialectCheck: Sendable {
    let summary: CheckSummary
    let body: @Sendable (DialectScene) async throws -> Void

    /// - Parameter advice: The part of the dialect that a failure concerns.
    init(
        _ id: String, _ promise: String, _ advice: String,
        body: @escaping @Sendable (DialectScene) async throws -> Void
    ) {
        summary = CheckSummary(id: id, group: .dialects, tier: .required, promise: promise, explanation: advice)
        self.body = { scene in
            do {
                try await body(scene)
            } catch let error as BrokenPromise {
                throw BrokenPromise("\(error.description); to do: \(advice)")
            }
        }
    }

    static let all: [DialectCheck] = values + changes + gateways + pulls + losses + signals
}
