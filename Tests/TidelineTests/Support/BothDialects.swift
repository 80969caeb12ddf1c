import Foundation
import HTTPTypes
import Testing
import Tideline
import TidelineTestStores

/// Runs each test once in every dialect. A ``World`` takes the dialect of the current run.
///
/// A dialect does not depend on the store, so that a test over all engines runs in the second dialect over SQLite and
/// memory only. The environment variable `TIDELINE_DIALECT` names the only dialect to run, such as `datasync3`, over
/// all engines.
struct BothDialects: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal static var current = ServerDialect.zumo2
    /// Whether the test runs again, in another dialect.
    @TaskLocal private static var isRepeated = false

    /// The error that ends a repeated test over an engine that is left out.
    private struct LeavesOutEngine: Error {}

    /// Ends a repeated test over an engine that is left out.
    static func check(_ stores: StoreKind) throws {
        if isRepeated, stores.engine == "lmdb" || stores.engine == "leveldb" { throw LeavesOutEngine() }
    }

    /// The dialects to run.
    var dialects = ServerDialect.all

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let wanted = ProcessInfo.processInfo.environment["TIDELINE_DIALECT"]
        let isForZUMO = test.traits.contains { $0 is ForZUMO }
        for dialect in dialects where wanted.map({ $0 == dialect.description }) ?? true {
            guard dialect == .zumo2 || !isForZUMO else { continue }
            try await Self.$current.withValue(dialect) {
                try await Self.$isRepeated.withValue(wanted == nil && dialect != dialects[0]) {
                    do {
                        try await function()
                    } catch is LeavesOutEngine {
                        // The test has run over this engine in the first dialect.
                    }
                }
            }
        }
    }
}

/// Marks a test whose requests or responses are those of ZUMO 2.
struct ForZUMO: TestTrait {}

extension Trait where Self == BothDialects {
    /// Runs each test once in every dialect.
    static var bothDialects: Self { BothDialects() }
    /// Runs each test in the dialect Datasync 3.
    static var onlyDatasync: Self { BothDialects(dialects: [.datasync3]) }
}

extension Trait where Self == ForZUMO {
    /// Excludes the test from dialects other than ZUMO 2.
    static var zumoOnly: Self { ForZUMO() }
}

extension SyncOptions {
    /// The default options, in the dialect of the current run.
    static var inDialect: SyncOptions {
        var options = SyncOptions()
        options.dialect = BothDialects.current
        return options
    }
}

extension HTTPRequest {
    /// Whether the request changes an existing row, in any dialect.
    var isUpdate: Bool { method == .patch || method == .put && !isUndelete }

    /// Whether the request inserts or restores a row, in any dialect.
    var createsRow: Bool { method == .post || isUndelete }

    private var isUndelete: Bool { method == .put && path?.contains("__includedeleted") == true }
}
