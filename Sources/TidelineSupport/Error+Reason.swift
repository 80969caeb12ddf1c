internal import Foundation

extension Error {
    /// What the system says about a failed file operation; Foundation's own words are the same for most of them.
    package var reason: String {
        guard let cause = (self as? CocoaError)?.underlying as? POSIXError else { return localizedDescription }
        return String(cString: strerror(cause.code.rawValue))
    }
}
