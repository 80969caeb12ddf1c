import Testing
import TidelineStore
import TidelineTestStores

/// Tests the properties of the package's own stores that are not required of every store, and the list of these stores.
@Suite struct StoreKindTests {
    @Test(arguments: StoreKind.all)
    func capabilitiesAreThoseOfTheKind(_ subject: StoreKind) throws {
        try subject.withStore { store in
            let capabilities = store.capabilities
            #expect(capabilities.isPersistent == subject.isPersistent)
            #expect(capabilities.sharesFilesWithProcesses == subject.sharesFiles)
            #expect(capabilities.readersDoNotBlockWriters == subject.readsBesideWriter)
            #expect(!capabilities.isReadOnly)
            #expect(capabilities.maximumIDLength >= 255)
        }
    }

    @Test(arguments: StoreKind.all)
    func aCancelledTaskWritesNothing(_ subject: StoreKind) async throws {
        try await Task {
            try subject.withStore(TableSchema("t", columns: [])) { store throws in
                withUnsafeCurrentTask { $0?.cancel() }
                expectError(.cancelled) { try store.write { try $0.upsert(["id": "1"], into: "t") } }
                #expect(try store.read { try $0.count(TableQuery("t")) } == 0)
            }
        }.value
    }
}
