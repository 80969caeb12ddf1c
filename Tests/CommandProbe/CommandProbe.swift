#if Commands
import Foundation
import TidelineConformance
import TidelineMemory

/// The conformance command in an author's executable, over harmful stores, and with `BENCH` in the environment the
/// benchmark command; used by the tests.
@main
enum CommandProbe {
    static func main() async throws {
        if let subject = ProcessInfo.processInfo.environment["BENCH"] { try await BenchProgram.main(subject) }
        let harnesses = Mischief.allCases.map { mischief in
            StoreHarness(name: mischief.rawValue, modes: []) { _ in try MischievousStore(mischief) }
        }
        let nameless = StoreHarness { _ in try MemoryStore() }
        await ConformanceCommand.main(stores: harnesses + [nameless])
    }
}
#else
internal import TidelineSupport

/// Prints the command that builds the program with its packages.
@main
enum CommandProbe {
    static func main() { exitForMissingTrait("Commands") }
}
#endif
