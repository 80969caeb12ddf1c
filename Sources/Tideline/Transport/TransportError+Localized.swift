#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension TransportError: LocalizedError {
    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
