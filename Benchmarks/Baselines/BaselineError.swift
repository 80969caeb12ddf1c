internal import CBaselines

/// The error of a baseline, in its engine's own words.
public struct BaselineError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Where C code writes what went wrong: kept, as making one would take longer than some of the calls.
///
/// `@unchecked Sendable`: it belongs to a reader or to the writer, and goes from thread to thread with it.
struct FailureText: @unchecked Sendable {
    /// For the C functions.
    let pointer: UnsafeMutablePointer<baseline_error>

    init() {
        pointer = .allocate(capacity: 1)
        pointer.initialize(to: baseline_error())
    }

    /// Throws what a function wrote, if it failed.
    @inline(__always)
    func check(_ result: Int32) throws(BaselineError) {
        guard result == 0 else { throw error }
    }

    private var error: BaselineError {
        withUnsafeBytes(of: pointer.pointee.text) { text in
            BaselineError(String(decoding: text.prefix { $0 != 0 }, as: UTF8.self))
        }
    }

    func deallocate() { pointer.deallocate() }
}
