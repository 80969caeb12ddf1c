#if Serve
internal import ArgumentParser
internal import Foundation
internal import Logging
internal import TidelineStore
internal import TidelineSupport

/// The least severe messages that a command logs to standard error.
enum LogLevel: String, CaseIterable, ExpressibleByArgument {
    case debug, info, notice, warning, error

    var level: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}

/// Writes each log message as a JSON object on one line of standard error.
struct JSONLogHandler: LogHandler {
    let label: String
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    /// Receives each line.
    var write: @Sendable (String) -> Void = { Output.note($0) }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }
            .merging(event.metadata ?? [:]) { $1 }.mapValues(\.description)
        if let error = event.error { fields["error"] = "\(error)" }
        fields["time"] = Timestamp.now.iso8601()
        fields["level"] = event.level.rawValue
        fields["logger"] = label
        fields["message"] = event.message.description
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding a dictionary of strings never fails.
        write(String(decoding: (try? encoder.encode(fields)) ?? Data(), as: UTF8.self))
    }
}
#endif
