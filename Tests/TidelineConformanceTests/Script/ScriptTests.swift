import BrokenStores
import Foundation
import Testing
import TidelineKeyValue
import TidelineMemory
import TidelineStore
import TidelineTestSupport

@testable import TidelineConformance

/// Tests that random scripts find the flaws of a store and report them briefly.
@Suite("Random scripts")
struct ScriptTests {
    private static func withStage<T>(_ flaw: Flaw?, _ body: (ScriptStage) throws -> T) throws -> T {
        try withTemporaryFolder { folder in
            let capabilities = StoreCapabilities(name: "plain", durability: .full)
            return try body(
                ScriptStage(directory: folder, capabilities: capabilities, patience: WaitLimit.seconds) { directory in
                    try PlainStore(StoreOpening(directory: directory), flaw: flaw)
                })
        }
    }

    private static func failure(_ stage: ScriptStage, seeds: Range<UInt64> = 0..<30) throws -> CheckFailure {
        let search = ScriptSearch(stage: stage, name: "MOD000")
        let options = RandomScript.Options(stage.capabilities)
        return try #require(throws: CheckFailure.self) { try search.run(seeds: seeds, steps: 25, options: options) }
    }

    /// Returns the lines inside the printed function.
    private static func statements(_ failure: CheckFailure) -> [Substring] {
        let lines = failure.script?.split(separator: "\n") ?? []
        return Array(lines.drop { !$0.hasPrefix("func MOD000") }.dropFirst().prefix { $0 != "}" })
    }

    @Test(
        "A flaw is found and shrunk to a script of at most four steps",
        arguments: [
            Flaw.onlyFirstIDDeleted, .mergeReplaces, .rollbackForgetsSecondTable, .indexKeepsOldValues,
            .snapshotMoves, .failedTransactionCommitted,
        ])
    func isShrunk(_ flaw: Flaw) throws {
        try Self.withStage(flaw) { stage in
            let failure = try Self.failure(stage)
            let steps = failure.message.firstMatch(of: /after (\d+) steps/).flatMap { Int($0.1) }
            #expect(try #require(steps) <= 4, "\(failure.message)\n\(failure.script ?? "")")
            #expect(Self.statements(failure).count <= 25, "\(failure.script ?? "")")
        }
    }

    @Test("A store without a flaw has the same contents as the model", arguments: UInt64(100)..<104)
    func holds(_ seed: UInt64) throws {
        try Self.withStage(nil) { stage in
            let search = ScriptSearch(stage: stage, name: "MOD000")
            try search.run(seeds: [seed], steps: 25, options: RandomScript.Options(stage.capabilities))
        }
    }

    @Test("The same seed creates the same script and leaves equal dumps in different stores")
    func isRepeated() throws {
        var digests: Set<String> = []
        for _ in 0..<2 {
            var scripts = RandomScript(seed: 5, options: .common)
            let script = scripts.next(steps: 40)
            try Self.withStage(nil) { stage in
                let memory = ScriptStage(
                    directory: stage.directory, capabilities: try MemoryStore().capabilities,
                    patience: WaitLimit.seconds
                ) { _ in try MemoryStore() }
                for stage in [stage, memory] {
                    let failure = try ScriptRun.failure(of: script, on: stage) { store, model in
                        digests.formUnion([try StoreDump(of: store).digest, try StoreDump(of: model).digest])
                    }
                    #expect(failure == nil, "\(failure?.message ?? "")")
                }
            }
        }
        #expect(digests.count == 1)
    }

    @Test(
        "The printed script compiles, reproduces the failure, and succeeds on a store without the flaw",
        .enabled(if: ScriptCompiler.isAvailable, "there is no compiler beside the modules of this build"))
    func isSwift() throws {
        try withTemporaryFolder { folder in
            let stage = ScriptStage(
                directory: folder, capabilities: try ForgetfulStore().capabilities, patience: WaitLimit.seconds
            ) { _ in try ForgetfulStore() }
            let script = try #require(try Self.failure(stage).script)
            let broken = try ScriptCompiler.run(script, calling: "MOD000", on: "ForgetfulStore()")
            #expect(broken.status == 1 && broken.output.contains("BrokenPromise"), "\(broken.output)\n\(script)")
            let sound = try ScriptCompiler.run(script, calling: "MOD000", on: "MemoryStore()")
            #expect(sound.status == 0, "\(sound.output)\n\(script)")
        }
    }

    @Test(
        "A long script with every kind of step compiles and succeeds",
        .enabled(if: ScriptCompiler.isAvailable, "there is no compiler beside the modules of this build"))
    func isSwiftInFull() throws {
        let capabilities = try MemoryStore().capabilities
        var options = RandomScript.Options(capabilities)
        options.values.includesLongTexts = false
        var scripts = RandomScript(seed: 11, options: options)
        let script = scripts.next(steps: 30)
        let stage = ScriptStage(directory: "", capabilities: capabilities, patience: WaitLimit.seconds) { _ in
            try MemoryStore()
        }
        var model = stage.emptyModel
        for step in script.steps {
            if case .define(let schemas) = step { try? model.define(schemas) }
            if case .write(let changes, let commits) = step {
                model = WritePlan(changes, commits: commits, in: model).model
            }
        }
        let schema = try #require(model.schemas.first)
        let answer = try Answer.expected(TableQuery(schema.name), schema, try schema.packed(model.rows(schema.name)))
        let failure = ScriptFailure(
            step: script.steps.count - 1, place: .step, promise: .answer(TableQuery(schema.name), answer),
            message: "none")
        let text = ScriptPrinter.text(of: script, failure, on: stage, name: "whole", comment: "everything")
        let outcome = try ScriptCompiler.run(text, calling: "whole", on: "MemoryStore()")
        #expect(outcome.status == 0, "\(outcome.output)\n\(text)")
    }
}

@Suite struct RandomQueryTests {
    /// Queries that match no rows or all rows would not detect any fault.
    @Test func theQueriesFindSomeRowsAndLeaveOut() throws {
        var telling = 0
        for seed in UInt64(1)...20 {
            var source = RandomRows(seed: seed, values: RandomValues(includesLongTexts: true))
            let schema = source.indexedSchema()
            let rows = source.rows(60, of: schema)
            let packed = try schema.packed(rows)
            var queries = RandomQuery(seed: seed, schema: schema, rows: rows, values: source.values)
            for _ in 0..<20 {
                let found = try Answer.expected(queries.nextIndexed(), schema, packed).matching
                if (1..<60).contains(found) { telling += 1 }
            }
        }
        #expect(telling >= 200, "\(telling) of 400")
    }
}
