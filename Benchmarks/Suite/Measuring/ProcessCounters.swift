internal import Foundation

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
