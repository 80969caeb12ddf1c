#if Serve
internal import ArgumentParser
internal import Logging

/// The least severe messages that a command logs to standard error.
enum LogLevel: String, CaseIterable, ExpressibleByArgument {
    case debug, info, notice, warning, error

    /// The equivalent level of a logger.
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
#endif
