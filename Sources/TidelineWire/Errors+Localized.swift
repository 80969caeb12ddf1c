#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension WireError: LocalizedError {
    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

extension RequestRejection: LocalizedError {
    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
