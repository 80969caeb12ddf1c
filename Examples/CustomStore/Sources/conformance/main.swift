import SortedFileStore
import TidelineConformance
import TidelineFaults

// `swift run conformance` runs the suite on the store; `swift run conformance --help` lists the options.
await ConformanceCommand.main(stores: [.sortedFile])

extension StoreHarness {
    /// The harness that opens this package's store, with all hooks that the store supports.
    static var sortedFile: StoreHarness {
        StoreHarness(name: "sorted-file", modes: [], faults: InterposedFiles()) {
            try SortedFileStore(path: $0.directory)
        }
    }
}
