internal import Foundation

extension Error {
    /// The system's description of a failed file operation. Foundation's own description is the same for most failures.
    package var reason: String {
        guard let cause = (self as? CocoaError)?.underlying as? POSIXError else { return localizedDescription }
        return String(cString: strerror(cause.code.rawValue))
    }
}
