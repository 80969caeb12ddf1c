#if Commands
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension BenchmarkError: LocalizedError {
    /// The same text as ``description``.
    package var errorDescription: String? { description }
}

extension WorkNotApplicable: LocalizedError {
    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
#endif
