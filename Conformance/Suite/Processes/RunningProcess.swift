internal import Foundation
internal import TidelineSupport

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

#if os(macOS) || os(Linux)
    /// A process that was started, with its standard input and output.
    final class RunningProcess {
        /// What it prints for the suite.
        let lines = ChildLines()
        private let process = Process()
        private let input = Pipe()
        private let ended = DispatchSemaphore(value: 0)

        init(
            _ executable: String, arguments: [String], environment: [String: String], errorFile: String
        ) throws {
            guard FileManager.default.createFile(atPath: errorFile, contents: nil) else {
                throw KitError("the file \(errorFile) cannot be made")
            }
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: executable)
            process.arguments = arguments
            // Where the language prints a trace of a crash, that takes seconds.
            process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
                .merging(environment) { $1 }
            // This process keeps the end that is read open, too: who writes to a pipe that nobody reads is ended.
            process.standardInput = input.fileHandleForReading
            process.standardOutput = output
            process.standardError = FileHandle(forWritingAtPath: errorFile)
            process.terminationHandler = { [ended] _ in ended.signal() }
            do { try process.run() } catch {
                throw KitError("the process \(executable) cannot be started: \(error.reason)")
            }
            lines.read(output.fileHandleForReading)
        }

        /// Writes an empty line to its standard input.
        func proceed() { try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

        /// Ends it without a chance to do anything more.
        func kill() {
            if process.isRunning { sendKill(process.processIdentifier) }
        }

        /// Its exit status, or the signal that ended it, when it has ended in time.
        func end(within seconds: TimeInterval) -> (status: Int32, signal: Int32?)? {
            guard ended.wait(timeout: .now() + seconds) == .success else { return nil }
            ended.signal()
            let status = process.terminationStatus
            return (status, process.terminationReason == .uncaughtSignal ? status : nil)
        }
    }

    private func sendKill(_ process: pid_t) { _ = kill(process, SIGKILL) }
#else
    /// What stands for a process where there are none.
    final class RunningProcess {
        let lines = ChildLines()

        init(
            _ executable: String, arguments: [String], environment: [String: String], errorFile: String
        ) throws {
            throw KitError("this platform starts no processes")
        }

        func proceed() {}
        func kill() {}
        func end(within seconds: TimeInterval) -> (status: Int32, signal: Int32?)? { nil }
    }
#endif
