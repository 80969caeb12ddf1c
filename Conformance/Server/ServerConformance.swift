internal import Synchronization
public import Tideline
public import TidelineConformance
internal import TidelineStore
internal import TidelineWire

/// The conformance suite for a server of the table protocol, in one dialect.
///
/// The suite sends the requests of a client and verifies the behavior that clients rely on. It writes only rows that it
/// has made, in a table of its own, and removes them afterwards. With Swift Testing:
///
/// ```swift
/// let suite = try ServerConformance(url: "http://127.0.0.1:8080", transport: AsyncHTTPClientTransport.shared)
///
/// @Test(arguments: ServerCheck.all) func conforms(_ check: ServerCheck) async throws { try await suite.verify(check) }
/// ```
public struct ServerConformance: Sendable {
    /// The options of a suite.
    public struct Options: Sendable {
        /// The table that the suite may write. It has the ``ServerConformance/columns``, or is created with the first
        /// row that needs it.
        public var table = "ConformanceItem"
        /// Whether the table may contain rows of others, which the suite does not change. By default, such a table is
        /// refused.
        public var allowsRows = false
        /// The token of a signed-in user, sent as `X-ZUMO-AUTH` and as `Authorization: Bearer`; never part of a report.
        public var token: String?
        /// The number of rows of the checks of paging.
        public var rows = 1_000
        /// The number of repetitions of the checks with concurrent clients.
        public var rounds = 1
        /// The time limit for one request.
        public var requestTimeout: Duration = .seconds(30)
        /// The time limit for one check.
        public var timeLimit: Duration = .seconds(300)
        /// The maximum number of requests of all checks together, besides those that delete their rows.
        public var maximumRequests = 200_000

        /// Creates the default options.
        public init() {}
    }

    /// The columns that the table needs, with their types, in addition to the system columns.
    public static let columns =
        "mark (string), text (string), number (64-bit integer), price (double), done (Boolean), due (timestamp)"

    let session: ServerSession

    /// The options of the suite.
    public var options: Options { session.options }
    /// The dialect of the requests.
    public let dialect: ServerDialect
    /// The address of the server, without its query, which may contain a key.
    public var address: String { session.address.text }
    /// All checks.
    public var checks: [ServerCheck] { ServerCheck.all }

    /// Creates a suite. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - url: The address of the server, to which `/tables/…` is appended.
    ///   - dialect: One of the built-in dialects.
    ///   - transport: Sends the requests.
    ///   - options: The options of the suite.
    /// - Throws: `SyncError` with code `invalidArgument` for an invalid address; ``ServerConformanceError`` for a
    ///   dialect that is not built in.
    public init(
        url: String, dialect: ServerDialect = .zumo2, transport: any Transport, options: Options = Options()
    ) throws {
        guard ServerDialect.all.contains(dialect), let name = DialectName(rawValue: dialect.description) else {
            throw ServerConformanceError("the suite checks the dialects \(ServerDialect.all), not \(dialect)")
        }
        self.dialect = dialect
        session = ServerSession(address: try ServerAddress(url), dialect: name, transport: transport, options: options)
    }

    /// Verifies that the server answers in the dialect and that the suite can write the table.
    ///
    /// Checks do this themselves before the first of them runs.
    ///
    /// - Throws: ``ServerConformanceError`` with the reason and what to do.
    public func prepare() async throws { _ = try await session.facts() }

    /// Runs a check. The rows that it inserts are deleted when it ends.
    public func run(_ check: ServerCheck) async -> CheckResult {
        let start = ContinuousClock.now
        var result = await outcome(of: check)
        result.seconds = (ContinuousClock.now - start) / .seconds(1)
        return result
    }

    /// Runs a check, and throws a ``ServerConformanceError`` if the server does not keep the promise and clients rely
    /// on it.
    public func verify(_ check: ServerCheck) async throws {
        let result = await run(check)
        guard result.status.isFailure else { return }
        let lines = ["\(check)", result.failure?.message, result.failure?.script].compactMap { $0 }
        throw ServerConformanceError(lines.joined(separator: "\n"))
    }

    /// Deletes the rows that several checks share. Call it after the last check.
    ///
    /// - Returns: What the suite leaves in the table, as a sentence, or `nil` if that is nothing. A server with soft
    ///   delete keeps deleted rows.
    @discardableResult
    public func finish() async -> String? {
        await session.removeSharedRows()
        return await session.leftovers()
    }

    private func outcome(of check: ServerCheck) async -> CheckResult {
        let facts: ServerFacts
        do {
            facts = try await session.facts()
        } catch {
            return CheckResult(
                id: check.id, status: .harnessError, failure: .init(message: "\(error)", seed: 1, script: nil))
        }
        for need in check.needs {
            guard let reason = need.obstacle(session.dialectName, facts) else { continue }
            return CheckResult(id: check.id, status: .skipped, reason: reason, isExcluded: need.isDialect)
        }
        let context = ServerCheckContext(session)
        let error = await Self.error(of: check, in: context, limit: session.options.timeLimit)
        await context.removeRows()
        return Self.result(of: check, after: error, log: context.log)
    }

    private static func error(
        of check: ServerCheck, in context: ServerCheckContext, limit: Duration
    ) async -> (any Error)? {
        // The insertion of these rows takes the longer the more of them there are.
        if check.readsSharedRows {
            do { _ = try await context.session.sharedRows() } catch { return error }
        }
        return await withTaskGroup(of: (any Error)?.self) { group in
            group.addTask {
                do {
                    try await check.body(context)
                    return nil
                } catch {
                    return error
                }
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return BrokenPromise("the check does not end within \(limit)", isTolerable: false)
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    private static func result(of check: ServerCheck, after error: (any Error)?, log: String) -> CheckResult {
        guard let error else { return CheckResult(id: check.id, status: .passed) }
        if let skip = error as? SkippedCheck {
            return CheckResult(id: check.id, status: .skipped, reason: skip.reason)
        }
        let isVerdict = error is BrokenPromise
        let failure = CheckResult.Failure(
            message: isVerdict ? "\(error)" : "the server's response cannot be used: \(error)", seed: 1, script: log)
        if error is SuiteFailure { return CheckResult(id: check.id, status: .harnessError, failure: failure) }
        guard let tolerance = check.tolerance, (error as? BrokenPromise)?.isTolerable == true else {
            return CheckResult(id: check.id, status: .failed, failure: failure)
        }
        return CheckResult(
            id: check.id, status: .tolerated, reason: "\(failure.message). \(tolerance)", failure: failure)
    }
}

/// A reason why a server cannot be checked, or a promise that it does not keep.
public struct ServerConformanceError: Error, CustomStringConvertible {
    /// The problem and what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// A promise that does not hold: the expected and the actual behavior.
struct BrokenPromise: Error, CustomStringConvertible {
    var description: String
    /// Whether the tolerance of the check, if it has one, covers this deviation.
    var isTolerable: Bool

    init(_ description: String, isTolerable: Bool = true) {
        self.description = description
        self.isTolerable = isTolerable
    }
}

/// A promise that has no meaning for this server or table.
struct SkippedCheck: Error {
    var reason: String
}

/// A limit of the suite itself. It is no verdict on the server.
struct SuiteFailure: Error, CustomStringConvertible {
    var description: String
}
