public import Foundation

/// The lines that a process writes.
public final class ProcessLines {
    private let process: Process
    private let output: Pipe
    private var unread = Data()

    /// Reads the pipe to which a process writes.
    public init(of process: Process, _ output: Pipe) { (self.process, self.output) = (process, output) }

    /// Returns the next line, or `nil` if the output has ended. A process that writes none within the time limit is
    /// ended.
    public func next() -> String? {
        let alarm = DispatchWorkItem { [weak process] in process?.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + WaitLimit.seconds, execute: alarm)
        defer { alarm.cancel() }
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread = Data(unread[(end + 1)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return nil }
            unread += more
        }
    }
}
