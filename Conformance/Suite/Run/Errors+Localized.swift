#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension KnownFailures.ParsingError: LocalizedError {
    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

extension ConformanceFailure: LocalizedError {
    /// The same text as ``description``.
    public var errorDescription: String? { description }
}

extension ConformanceReport.ReadingError: LocalizedError {
    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
