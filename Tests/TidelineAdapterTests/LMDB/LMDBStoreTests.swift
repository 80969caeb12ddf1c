import Foundation
import Testing
import TidelineKeyValue
import TidelineLMDB
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests the whole store over this engine. The conformance suite tests the requirements of every store.
@Suite struct LMDBStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: EarlierNames.definitions)
    func aNameThatIsNotInNormalizationFormCIsRefused(_ definitions: [TableSchema]) throws {
        let store = try LMDBStore(path: folder.path)
        try EarlierNames.fill(store, definitions)
        let reader = try LMDBStore(path: folder.path, options: LMDBOptions(isReadOnly: true))
        try store.replaceStoredName(EarlierNames.name, with: EarlierNames.stored)
        try reader.close()
        try store.close()
        EarlierNames.expectRefusal(definitions) { _ = try LMDBStore(path: folder.path) }
        EarlierNames.expectRefusal(definitions) {
            _ = try LMDBStore(path: folder.path, options: LMDBOptions(isReadOnly: true))
        }
        try LMDBStore.destroy(path: folder.path)
    }

    @Test func aFolderOfAnotherProgramIsRefused() throws {
        try withEngine(folder.path) { engine in try engine.write { try $0.put(key(1, "not a store's"), [1]) } }
        expectError(.notAStore) { _ = try LMDBStore(path: folder.path) }
        // The store was closed when opening failed: an engine can open it for reading only.
        try LMDBEngine(path: folder.path, options: LMDBOptions(isReadOnly: true)).close()
    }
}
