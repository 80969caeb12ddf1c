import TidelineConformance
import TidelineConformanceCommand
import TidelineMemory

/// The command as an author's own executable has it, over stores that do harm; the tests run it.
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
