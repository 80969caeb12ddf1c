#if Commands
import TidelineConformance
import TidelineConformanceCommand
import TidelineMemory

/// The command in an author's executable, over harmful stores; used by the tests.
@main
enum CommandProbe {
    static func main() async {
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
