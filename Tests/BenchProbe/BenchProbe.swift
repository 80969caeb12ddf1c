import ArgumentParser
import Foundation
import TidelineBenchmark
import TidelineBenchmarkCommand
import TidelineMemory
import TidelineStore

/// The benchmark's command as an author's own executable has it; the tests run it.
///
/// With `MISCHIEF` in the environment, the store `memory` is joined by ones that do harm. With `MEASURED_FILE`, it writes that
/// file of 20 MB, and prints what a meter finds: bytes written, and bytes of memory taken.
@main
struct BenchProbe: ParsableCommand {
    @OptionGroup var options: BenchOptions

    static func main() async throws {
        if let path = ProcessInfo.processInfo.environment["MEASURED_FILE"] { return try measure(path) }
        guard ProcessInfo.processInfo.environment["MISCHIEF"] != nil else {
            await BenchCommand.main(stores: [BenchmarkStore(name: "memory") { _ in try MemoryStore() }])
        }
        do {
            let stores = BenchStores(
                names: Mischief.allCases.map(\.rawValue),
                settings: { $0 == Mischief.none.rawValue ? ["durability"] : [] },
                baseline: { engine, durability in engine == "memory" ? try? Mischief.none.subject("in C") : nil },
                configuring: { name, settings in
                    guard let mischief = Mischief(rawValue: name) else { throw ValidationError("no store \(name)") }
                    var subject = try mischief.subject(name)
                    subject.settings = settings
                    return subject
                })
            Foundation.exit(try await BenchCommand.run(try Self.parse().options, stores: stores))
        } catch {
            BenchCommand.exit(Self.self, after: error)
        }
    }

    private static func measure(_ path: String) throws {
        var meter = Meter()
        let part = Meter.begin()
        try Data(repeating: 1, count: 20 << 20).write(to: URL(fileURLWithPath: path))
        meter.end(part)
        print(meter.bytesWritten ?? 0, meter.peakMemory ?? 0)
    }
}

/// What a store does to the benchmark.
enum Mischief: String, CaseIterable {
    /// It does its work.
    case none
    /// It answers with one row more when all rows are read.
    case miscounts
    /// It fails when all rows are read.
    case fails
    /// It never comes back when all rows are read, and makes files meanwhile.
    case hangs

    /// A subject in memory that does this, and has a file in its folder.
    func subject(_ name: String) throws -> BenchmarkSubject {
        var subject = try BenchmarkStore(name: name, engine: "memory") { _ in try MemoryStore() }.makeSubject()
        let open = subject.open
        subject.open = { opening in
            try Data("rows".utf8).write(to: URL(fileURLWithPath: opening.directory + "/file"))
            return MischievousSession(try open(opening), self, opening.directory)
        }
        return subject
    }
}

/// A session that does harm.
private final class MischievousSession: BenchmarkSession {
    private let base: any BenchmarkSession
    private let mischief: Mischief
    private let directory: String

    init(_ base: any BenchmarkSession, _ mischief: Mischief, _ directory: String) {
        self.base = base
        self.mischief = mischief
        self.directory = directory
    }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        var answer = try base.perform(work, noting: latencies)
        guard case .scan = work else { return answer }
        switch mischief {
        case .none: break
        case .miscounts: answer.count += 1
        case .fails: throw StoreError(.corrupt, "page 3 is damaged")
        case .hangs:
            // It stays, unlike the files below, which are made while the run's folder is removed.
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
