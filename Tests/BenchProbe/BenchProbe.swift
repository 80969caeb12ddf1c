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
