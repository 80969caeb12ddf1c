internal import Dispatch
internal import HTTPTypes
internal import Synchronization
internal import Tideline

/// What carries the requests of a benchmark's client: to a server in the process, to recorded pages, or nowhere.
final class SyncTransport: Transport {
    /// Where requests go.
    enum Route: Sendable {
        /// Nowhere: they are lost.
        case lost
        /// To a server, each taking a time there and back.
        case server(SyncServer, roundTrip: Duration)
        /// To a server that answers with these bodies, one after the other, and then with an empty page.
        case replay([[UInt8]])
    }

    private struct State {
        var route = Route.lost
        var requests = 0
        var times: [UInt64] = []
    }

    private let state = Mutex(State())

    /// How many requests were sent since the route was set.
    var requests: Int { state.withLock { $0.requests } }

    /// The moments at which they were sent.
    var times: [UInt64] { state.withLock { $0.times } }

    /// Sets the route, and counts requests from 0 again.
    func follow(_ route: Route) { state.withLock { $0 = State(route: route) } }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let (route, number) = state.withLock { state in
            state.requests += 1
            state.times.append(LatencySink.now)
            return (state.route, state.requests - 1)
        }
        switch route {
        case .lost: throw TransportError(.connection, "the network is gone")
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

/// Runs asynchronous work for a caller that waits.
///
/// The tasks run on threads of their own: the caller may hold one of the few on which Swift's tasks run by default, and were
/// all of those held by callers that wait, they would wait for ever.
enum BlockingTask {
    /// Does the work and returns what it returns.
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
