#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension WireError: LocalizedError {
    /// The same text as ``description``.
    package var errorDescription: String? { description }
}

extension RequestRejection: LocalizedError {
    /// The same text as ``description``.
    package var errorDescription: String? { description }
}
