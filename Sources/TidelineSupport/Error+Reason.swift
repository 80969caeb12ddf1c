internal import Foundation

extension Error {
    /// The system's description of a failed file operation. Foundation's own description is the same for most failures.
    package var reason: String {
        systemCode.map { String(cString: strerror($0.rawValue)) } ?? localizedDescription
    }

    /// The system's code of a failed file operation, or `nil` if the error has none.
    var systemCode: POSIXErrorCode? {
        // The cause is a POSIXError or, from a file handle, an NSError.
        guard let cause = (self as? CocoaError)?.underlying as NSError?, cause.domain == NSPOSIXErrorDomain else {
            return nil
        }
        return POSIXErrorCode(rawValue: Int32(cause.code))
    }
}
