#if Commands
import ArgumentParser
import Foundation
import TidelineBenchmark
import TidelineMemory
import TidelineStore

/// The benchmark command in an author's executable, for tests.
///
/// Its subjects are a memory store, or stores with faults. The subject `stopwatch` writes a file of 20 MB to the path
/// in the first argument and prints the measured number of written bytes and the peak memory.
struct BenchProgram: ParsableCommand {
    @OptionGroup var options: BenchOptions

    static func main(_ subject: String) async throws -> Never {
        switch subject {
        case "stopwatch":
            try measure(CommandLine.arguments[1])
            Foundation.exit(0)
        case "faults": await runWithFaults()
        default: await BenchCommand.main(stores: [BenchmarkStore(name: "memory") { _ in try MemoryStore() }])
        }
    }

    private static func runWithFaults() async -> Never {
        do {
            let stores = BenchStores(
                names: StoreFault.allCases.map(\.rawValue),
                settings: { $0 == StoreFault.none.rawValue ? ["durability"] : [] },
                baseline: { engine, durability in engine == "memory" ? try? StoreFault.none.subject("in C") : nil },
                configuring: { name, settings in
                    guard let fault = StoreFault(rawValue: name) else { throw ValidationError("no store \(name)") }
                    var subject = try fault.subject(name)
                    subject.settings = settings
                    return subject
                })
            Foundation.exit(try await BenchCommand.run(try Self.parse().options, stores: stores))
        } catch {
            BenchCommand.exit(Self.self, after: error)
        }
    }

    private static func measure(_ path: String) throws {
        var stopwatch = Stopwatch()
        let part = Stopwatch.begin()
        try Data(repeating: 1, count: 20 << 20).write(to: URL(fileURLWithPath: path))
        stopwatch.end(part)
        print(stopwatch.bytesWritten ?? 0, stopwatch.peakMemory ?? 0)
    }
}

/// A fault of a store.
enum StoreFault: String, CaseIterable {
    /// No fault.
    case none
    /// A scan counts one row too many.
    case miscounts
    /// A scan fails.
    case fails
    /// A scan never returns and creates files.
    case hangs

    /// An in-memory subject with this fault and a file in its directory.
    func subject(_ name: String) throws -> BenchmarkSubject {
        var subject = try BenchmarkStore(name: name, engine: "memory") { _ in try MemoryStore() }.makeSubject()
        let open = subject.open
        subject.open = { opening in
            try Data("rows".utf8).write(to: URL(fileURLWithPath: opening.directory + "/file"))
            return FaultySession(try open(opening), self, opening.directory)
        }
        return subject
    }
}

/// A session with a fault.
private final class FaultySession: BenchmarkSession {
    private let base: any BenchmarkSession
    private let fault: StoreFault
    private let directory: String

    init(_ base: any BenchmarkSession, _ fault: StoreFault, _ directory: String) {
        self.base = base
        self.fault = fault
        self.directory = directory
    }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        var answer = try base.perform(work, noting: latencies)
        guard case .scan = work else { return answer }
        switch fault {
        case .none: break
        case .miscounts: answer.count += 1
        case .fails: throw StoreError(.corrupt, "page 3 is damaged")
        case .hangs:
            // This file remains; the files below are created while the run's directory is removed.
            if let path = ProcessInfo.processInfo.environment["HANGING"] {
                _ = FileManager.default.createFile(atPath: path, contents: Data())
            }
            for number in 0... {
                _ = FileManager.default.createFile(atPath: "\(directory)/\(number % 100)", contents: Data())
            }
        }
        return answer
    }

    func close() throws { try base.close() }
}
#endif
