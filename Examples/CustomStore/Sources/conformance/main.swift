import SortedFileStore
import TidelineConformance
import TidelineConformanceCommand
import TidelineFaults

// `swift run conformance` holds the store to the suite; `swift run conformance --help` tells what else it can do.
await ConformanceCommand.main(stores: [.sortedFile])

extension StoreHarness {
    /// How the suite makes this package's store, with every hook that it can have.
    static var sortedFile: StoreHarness {
        StoreHarness(name: "sorted-file", modes: [], faults: InterposedFiles()) {
            try SortedFileStore(path: $0.directory)
        }
    }
}
