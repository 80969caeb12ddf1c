internal import Foundation
internal import HTTPTypes
internal import Synchronization
internal import Tideline

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The requests of a session that wait for their responses. The delegate of the session.
///
/// It is not a delegate of each task, because FoundationNetworking does not call those.
final class Exchanges: NSObject, URLSessionDataDelegate, Sendable {
    private struct Exchange {
        var continuation: CheckedContinuation<TransportResponse, any Error>
        var deadline: Deadline
        var body: [UInt8] = []
    }

    private let maximumBodySize: Int
    /// The exchanges by the identifiers of their tasks. Each is removed when it ends, and later calls are ignored.
    private let running = Mutex<[Int: Exchange]>([:])

    init(maximumBodySize: Int) { self.maximumBodySize = maximumBodySize }

    /// Starts a task and returns its complete response. Cancels it when the current Swift task is cancelled.
    func response(
        of task: URLSessionDataTask, in session: URLSession, _ deadline: Deadline
    ) async throws -> TransportResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                running.withLock { $0[task.taskIdentifier] = Exchange(continuation: continuation, deadline: deadline) }
                task.resume()
                // The handler finds no exchange if it is called before this one begins.
                if Task.isCancelled { fail(task, in: session, CancellationError()) }
            }
        } onCancel: {
            fail(task, in: session, CancellationError())
        }
    }

    /// Ends an exchange without a response, and cancels its task.
    private func fail(_ task: URLSessionTask, in session: URLSession, _ error: any Error) {
        guard let exchange = running.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        exchange.continuation.resume(throwing: error)
        // Not canceled on this thread: on Linux, that waits for the queue of libcurl, which may be looking up a host.
        session.delegateQueue.addOperation { task.cancel() }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard response.expectedContentLength <= Int64(maximumBodySize) else {
            fail(dataTask, in: session, TransportError.tooLarge(limit: maximumBodySize))
            return completionHandler(.cancel)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let fits = running.withLock { running in
            let count = running[dataTask.taskIdentifier]?.body.count ?? 0
            guard data.count <= maximumBodySize - count else { return false }
            running[dataTask.taskIdentifier]?.deadline.bodyHasGrown(from: count, to: count + data.count)
            running[dataTask.taskIdentifier]?.body.append(contentsOf: data)
            return true
        }
        if !fits { fail(dataTask, in: session, TransportError.tooLarge(limit: maximumBodySize)) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // The response 401 is for the caller.
        let isRefusal = (challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401
        completionHandler(isRefusal ? .rejectProtectionSpace : .performDefaultHandling, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = running.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        exchange.continuation.resume(
            with: Result {
                // On Linux, a task whose challenge is rejected ends with an error, although it has a response.
                let isRejection = (task.response as? HTTPURLResponse)?.statusCode == 401
                if let error, !isRejection || (error as? URLError)?.code != .cancelled { throw error }
                let method = task.originalRequest?.httpMethod
                return try TransportResponse(task.response, to: method, body: exchange.body)
            })
    }
}
