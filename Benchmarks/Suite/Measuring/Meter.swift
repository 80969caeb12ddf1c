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
