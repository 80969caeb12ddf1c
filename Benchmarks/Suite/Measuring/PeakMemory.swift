internal import Foundation

/// By how much the process' memory grows while something is done, at its highest; pages of files that are mapped count where
/// they are touched. Only Linux can tell.
struct PeakMemory {
    private let before: Int

    /// Begins to look; nil where it cannot be told.
    ///
    /// What was freed before is given back to the system first, as the memory of who ran before would else be had for nothing.
    init?() {
        CLibrary.trimMemory()
        // Makes what the process has now its highest.
        guard let file = fopen("/proc/self/clear_refs", "w") else { return nil }
        let isWritten = fputs("5", file) >= 0
        guard fclose(file) == 0, isWritten, let before = Self.kilobytes("VmRSS:") else { return nil }
        self.before = before
    }

    /// The growth in bytes at its highest so far.
    var growth: Int? { Self.kilobytes("VmHWM:").map { max($0 - before, 0) << 10 } }

    private static func kilobytes(_ name: String) -> Int? { SystemFile.number(name, in: "/proc/self/status") }
}
