#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SyncError: LocalizedError {
    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

extension OperationFailure: LocalizedError {
    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

extension TableOperationError: LocalizedError {
    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
