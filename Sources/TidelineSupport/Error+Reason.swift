internal import Foundation

extension Error {
    /// The system's description of a failed file operation. Foundation's own description is the same for most failures.
    package var reason: String {
        systemCode.map { String(cString: strerror($0.rawValue)) } ?? localizedDescription
    }

    /// The system's code of a failed file operation.
    var systemCode: POSIXErrorCode? { ((self as? CocoaError)?.underlying as? POSIXError)?.code }
}
