internal import Foundation

/// Measures what is done between ``begin()`` and its end, and adds up several such parts.
package struct Meter {
    package private(set) var seconds = 0.0
    package private(set) var cpuSeconds = 0.0
    package private(set) var peakMemory: Int?
    package private(set) var bytesWritten: Int?

    /// What was so at the beginning of a part.
    package struct Part {
        fileprivate let memory: PeakMemory?
        fileprivate let counters: ProcessCounters
        /// Last, so that the taking of the others is not measured.
        fileprivate let time: UInt64
    }

    /// A meter that has measured nothing.
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

/// What the system counts of this process, at one moment.
struct ProcessCounters {
    /// The time on all processors, of system and program, of all threads, in seconds.
    var cpuSeconds: Double
    /// How many bytes were handed to the system in write calls; nil where that is not told.
    ///
    /// Linux also tells how many bytes were made dirty (`write_bytes`), by which writing through a mapping counts, too. But it
    /// counts in the units of the page cache, which are up to a megabyte for 100 bytes changed, and nothing at all in memory
    /// file systems; and none of the engines writes through a mapping. So the calls are what is comparable.
    var bytesWritten: Int?

    /// Now.
    static var now: ProcessCounters {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return ProcessCounters(
            cpuSeconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9,
            bytesWritten: SystemFile.number("wchar:", in: "/proc/self/io"))
    }
}
