#if Commands
internal import Foundation

/// Measures the time and the resources that the process uses, as the sum of several parts.
package struct Stopwatch {
    package private(set) var seconds = 0.0
    package private(set) var cpuSeconds = 0.0
    package private(set) var peakMemory: Int?
    package private(set) var bytesWritten: Int?

    /// The values at the start of a part.
    package struct Part {
        fileprivate let memory: PeakMemory?
        fileprivate let counters: ProcessCounters
        /// The last property to initialize, so that reading the others is not measured.
        fileprivate let time: UInt64
    }

    /// Creates a stopwatch at zero.
    package init() {}

    /// Begins a part.
    package static func begin() -> Part { Part(memory: PeakMemory(), counters: .now, time: LatencySink.now) }

    /// Ends a part.
    package mutating func end(_ part: Part) {
        let time = LatencySink.now
        let counters = ProcessCounters.now
        seconds += Double(time - part.time) / 1e9
        cpuSeconds += counters.cpuSeconds - part.counters.cpuSeconds
        if let before = part.counters.bytesWritten, let after = counters.bytesWritten {
            bytesWritten = (bytesWritten ?? 0) + after - before
        }
        if let growth = part.memory?.growth { peakMemory = max(peakMemory ?? 0, growth) }
    }
}

/// The peak growth of the process's memory, including the touched pages of mapped files. Available on Linux only.
struct PeakMemory {
    private let before: Int

    /// Starts measuring, or returns `nil` if the system does not support it.
    ///
    /// Freed memory is returned to the system first; otherwise a subject could reuse the memory of the one before it.
    init?() {
        CLibrary.trimMemory()
        // Resets the peak to the current size.
        guard let file = fopen("/proc/self/clear_refs", "w") else { return nil }
        let isWritten = fputs("5", file) >= 0
        guard fclose(file) == 0, isWritten, let before = Self.kilobytes("VmRSS:") else { return nil }
        self.before = before
    }

    /// The peak growth in bytes so far.
    var growth: Int? { Self.kilobytes("VmHWM:").map { max($0 - before, 0) << 10 } }

    private static func kilobytes(_ name: String) -> Int? { SystemFile.number(name, in: "/proc/self/status") }
}

/// The counters of the process at one point in time.
struct ProcessCounters {
    /// The processor time of all threads, user and system, in seconds.
    var cpuSeconds: Double
    /// The number of bytes passed to write calls; `nil` if the system does not report it.
    ///
    /// Linux also reports `write_bytes`, which includes writes through mappings. But it counts in page-cache units of
    /// up to a megabyte, counts nothing on in-memory file systems, and no engine here writes through a mapping.
    var bytesWritten: Int?

    /// The current counters.
    static var now: ProcessCounters {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return ProcessCounters(
            cpuSeconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9,
            bytesWritten: SystemFile.number("wchar:", in: "/proc/self/io"))
    }
}
#endif
