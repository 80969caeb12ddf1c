internal import Foundation

/// How much other programs use the machine from one moment on.
struct OtherLoad {
    private let start = ContinuousClock.now
    private let busy: Double
    private let own = ProcessCounters.now.cpuSeconds

    /// Begins to measure; nil where the system does not report it.
    init?() {
        guard let busy = Self.busySeconds else { return nil }
        self.busy = busy
    }

    /// The average number of processors that they used; nil after less than a second, which the system's clock cannot measure.
    var processors: Double? {
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        guard elapsed >= 1, let now = Self.busySeconds else { return nil }
        return max(now - busy - (ProcessCounters.now.cpuSeconds - own), 0) / elapsed
    }

    /// How long all processors have worked, for any program and for other machines on the same hardware.
    private static var busySeconds: Double? {
        SystemFile.value("cpu ", in: "/proc/stat").flatMap {
            busySeconds(of: $0, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))))
        }
    }

    /// Of Linux' line: user, nice, system, idle, waiting, interrupts, soft ones, and what other machines took.
    static func busySeconds(of line: Substring, ticksPerSecond: Double) -> Double? {
        let ticks = line.split(separator: " ").prefix(8).compactMap { Double($0) }
        guard ticks.count == 8, ticksPerSecond > 0 else { return nil }
        return (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7]) / ticksPerSecond
    }
}
