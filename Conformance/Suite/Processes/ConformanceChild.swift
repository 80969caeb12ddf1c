internal import Foundation

/// The entry point of the suite's second process, called by the executable that a ``StoreProcess`` names.
///
/// ```swift
/// let harness = StoreHarness(modes: []) { try MyStore(directory: $0.directory) }
/// if let status = ConformanceChild.run(arguments: CommandLine.arguments, harness: harness) { exit(status) }
/// ```
public enum ConformanceChild {
    /// Runs a job of the suite if the arguments request one.
    ///
    /// The process then belongs to the suite: its output is for the suite, and it should exit with the returned status.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the process; those before the suite's own are ignored.
    ///   - harness: The suite's harness, which opens the stores.
    /// - Returns: The exit status, or `nil` if the arguments do not request a job.
    public static func run(arguments: [String], harness: StoreHarness) -> Int32? {
        guard let marker = arguments.firstIndex(of: ChildJob.marker) else { return nil }
        let text = arguments.dropFirst(marker + 1).first ?? ""
        guard let job = try? JSONDecoder().decode(ChildJob.self, from: Data(text.utf8)) else {
            report(ChildFailure(code: nil, message: "\(ChildJob.marker) must be followed by a job", path: nil))
            return ChildJob.Status.unknownJob
        }
        do {
            try ChildRun(harness).perform(job)
            return ChildJob.Status.done
        } catch {
            report(ChildFailure(error))
            return ChildJob.Status.failed
        }
    }

    private static func report(_ failure: ChildFailure) {
        guard let line = try? JSONEncoder().encode(failure) else { return }
        FileHandle.standardError.write(line + Data("\n".utf8))
    }
}
