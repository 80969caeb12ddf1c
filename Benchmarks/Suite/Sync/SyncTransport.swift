#if Commands
internal import Dispatch
internal import HTTPTypes
internal import Synchronization
internal import Tideline
internal import TidelineStore

/// The transport of the measured client: to a server in this process, to recorded pages, or to nowhere.
final class SyncTransport: Transport {
    /// The destination of requests.
    enum Route: Sendable {
        /// No destination: every request fails.
        case lost
        /// A server, with a round-trip time for each request.
        case server(SyncServer, roundTrip: Duration)
        /// Recorded response bodies, in order, and then an empty page.
        case replay([[UInt8]])
    }

    private struct State {
        var route = Route.lost
        var times: [UInt64] = []
    }

    private let state = Mutex(State())

    /// The number of requests since the route was set.
    var requests: Int { state.withLock { $0.times.count } }

    /// The times at which requests were sent.
    var times: [UInt64] { state.withLock { $0.times } }

    /// Sets the route and resets the count of requests.
    func follow(_ route: Route) { state.withLock { $0 = State(route: route) } }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let (route, number) = state.withLock { state in
            state.times.append(LatencySink.now)
            return (state.route, state.times.count - 1)
        }
        switch route {
        case .lost: throw TransportError(.connection, "the benchmark's network is disconnected")
        case .server(let server, let roundTrip):
            if roundTrip > .zero { try await Task.sleep(for: roundTrip) }
            do {
                return try server.answer(request, body: body ?? [])
            } catch {
                throw TransportError(.connection, "the server did not start", cause: error)
            }
        case .replay(let bodies):
            let isLeft = number < bodies.count
            return TransportResponse(
                response: HTTPResponse(status: .ok), body: isLeft ? bodies[number] : Array("[]".utf8))
        }
    }
}

/// A dialect for recorded pages. The cursor is the number of pages; an empty page is the last.
struct ReplayDialect: CustomDialect {
    let name = "replay"

    func request(for page: PageRequest, after cursor: Int?) throws -> ServerRequest {
        try ServerRequest(.get, path: [page.table])
    }

    func page(in response: TransportResponse, to page: PageRequest, after cursor: Int?) throws -> ServerPage<Int> {
        try ServerPage(json: response.body, list: nil, of: page) { _, last in
            (cursor: (cursor ?? 0) + 1, isLast: last == nil, remaining: nil)
        }
    }

    func request(for row: RowRequest) throws -> ServerRequest { try ServerRequest(.get, path: [row.table, row.id]) }
    func meaning(of response: TransportResponse, to row: RowRequest) throws -> AnswerMeaning { .done }
}

/// Runs asynchronous work for a synchronous caller.
///
/// The tasks run on their own threads: callers that wait may occupy every thread of Swift's default executor.
enum BlockingTask {
    /// Runs `body` and waits for its result.
    static func run<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
        let outcome = Outcome<T>()
        let isDone = DispatchSemaphore(value: 0)
        Task.detached(executorPreference: Threads.shared) {
            do {
                let value = try await body()
                outcome.result.withLock { $0 = .success(value) }
            } catch {
                outcome.result.withLock { $0 = .failure(error) }
            }
            isDone.signal()
        }
        isDone.wait()
        guard let result = outcome.result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }

    private final class Outcome<T: Sendable>: Sendable {
        let result = Mutex<Result<T, any Error>?>(nil)
    }

    private final class Threads: TaskExecutor {
        static let shared = Threads()
        private let queue = DispatchQueue(label: "tideline.benchmark.tasks", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}
#endif
