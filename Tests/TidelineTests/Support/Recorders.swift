import Logging
import Synchronization

/// Returns true the first time only, for an action in the middle of the first exchange.
final class Once: Sendable {
    private let isUsed = Mutex(false)

    func first() -> Bool {
        isUsed.withLock { isUsed in
            defer { isUsed = true }
            return !isUsed
        }
    }
}

/// A list of texts in the order they were added, with `none` for `nil`.
final class HeaderLog: Sendable {
    private let list = Mutex<[String]>([])

    var values: [String] { list.withLock { $0 } }
    func add(_ text: String?) { list.withLock { $0.append(text ?? "none") } }
}

/// The greatest number of concurrent calls.
final class MaximumCount: Sendable {
    private let state = Mutex((now: 0, maximum: 0))

    var maximum: Int { state.withLock { $0.maximum } }
    func enter() { state.withLock { $0 = ($0.now + 1, max($0.maximum, $0.now + 1)) } }
    func leave() { state.withLock { $0.now -= 1 } }
}

/// A list of values in the order they were added.
final class Recorder<Value: Sendable>: Sendable {
    private let list = Mutex<[Value]>([])

    var values: [Value] { list.withLock { $0 } }
    func add(_ value: Value) { list.withLock { $0.append(value) } }
}

/// Records the messages of a logger, at every level.
final class LogRecorder: Sendable {
    private let recorded = Mutex<[(level: Logger.Level, message: String)]>([])

    var entries: [(level: Logger.Level, message: String)] { recorded.withLock { $0 } }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(recorder: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            recorder.recorded.withLock { $0.append((event.level, "\(event.message) \(event.metadata ?? [:])")) }
        }
    }
}
