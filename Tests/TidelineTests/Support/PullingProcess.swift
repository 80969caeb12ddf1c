import Foundation
import TidelineTestStores

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

#if os(macOS) || os(Linux)
    /// A `PullProbe` at work, which waits for a word at each page that it asks for.
    final class PullingProcess {
        /// The numbers of the rows at which the pages that it asked for begin.
        private(set) var asked: [Int] = []
        /// The most memory that it said to have, in kB.
        private(set) var memory = 0
        /// How many pages it has at most that are not stored: those of a transaction, and one on its way.
        static let pagesHeld = 5

        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()
        private var unread = Data()

        init(_ kind: StoreKind, _ folder: String, rows: Int, pageSize: Int) throws {
            let programs = Bundle.main.executableURL?.deletingLastPathComponent()
            // A build of another kind than the tests', such as a release build, which takes less time for many rows.
            let path = ProcessInfo.processInfo.environment["TIDELINE_PULL_PROBE"]
            process.executableURL =
                path.map { URL(fileURLWithPath: $0) } ?? programs?.appendingPathComponent("PullProbe")
            process.arguments = [kind.engine ?? "", folder, "\(rows)", "\(pageSize)"]
            // This process keeps the end that is read open, too: who writes to a pipe that nobody reads is ended.
            process.standardInput = input.fileHandleForReading
            process.standardOutput = output
            try process.run()
        }

        deinit { if process.isRunning { sendSignal(process.processIdentifier, SIGKILL) } }

        /// Kills it a moment after it asked for a page from that row on or behind it.
        func kill(whenAskedFor row: Int) throws {
            while let first = try nextRequest() {
                proceed()
                if first >= row { break }
            }
            // The moment of the kill is what is random here; nothing is waited for.
            Thread.sleep(forTimeInterval: .random(in: 0...0.02))
            sendSignal(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            guard process.terminationReason == .uncaughtSignal else {
                throw PullingError("it ended before it was killed")
            }
        }

        /// Lets it come to its end.
        func finish() throws -> PullingProcess {
            while try nextRequest() != nil { proceed() }
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw PullingError("it failed") }
            return self
        }

        private func proceed() { try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

        /// The row from which on it asks for the next page; nil when it asks for none.
        private func nextRequest() throws -> Int? {
            guard let words = nextLine()?.split(separator: " "), words.count == 3, let number = Int(words[1]),
                let memory = Int(words[2])
            else { return nil }
            self.memory = max(self.memory, memory)
            guard words[0] == "asked" else { return nil }
            asked.append(number)
            return number
        }

        /// Nil when its output has ended, or it has written nothing for two minutes, more than any page takes.
        private func nextLine() -> String? {
            let alarm = DispatchWorkItem { [process] in process.terminate() }
            DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: alarm)
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

    /// What went wrong with a process.
    struct PullingError: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private func sendSignal(_ process: pid_t, _ signal: Int32) { _ = kill(process, signal) }
#endif
