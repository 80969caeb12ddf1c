internal import Foundation

/// The second process of the suite, from inside: what an executable that a ``StoreProcess`` names hands over to.
///
/// ```swift
/// let harness = StoreHarness(modes: []) { try MyStore(directory: $0.directory) }
/// if let status = ConformanceChild.run(arguments: CommandLine.arguments, harness: harness) { exit(status) }
/// ```
public enum ConformanceChild {
    /// Does a job of the suite if the arguments ask for one.
    ///
    /// The process belongs to the suite then: what it prints is for the suite, and it should end with what is returned.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the process; what stands before the suite's own does not matter.
    ///   - harness: The harness that the suite has, which opens the stores.
    /// - Returns: The exit status; nil when the arguments are no job of the suite.
    public static func run(arguments: [String], harness: StoreHarness) -> Int32? {
        guard let marker = arguments.firstIndex(of: ChildJob.marker) else { return nil }
        let text = arguments.dropFirst(marker + 1).first ?? ""
        guard let job = try? JSONDecoder().decode(ChildJob.self, from: Data(text.utf8)) else {
            report(ChildFailure(code: nil, message: "\(ChildJob.marker) is not followed by a job", path: nil))
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
