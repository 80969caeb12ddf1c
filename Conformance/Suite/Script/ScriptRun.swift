internal import Foundation
internal import Synchronization
internal import TidelineStore

/// Runs a script on a store and on a model of it and compares them within and after each step.
struct ScriptRun {
    /// The error of bodies that are to be rolled back.
    struct RollBack: Error {}

    private let stage: ScriptStage
    private let directory: String
    private var store: any LocalStore
    private var held: HeldRead?
    private(set) var model: StoreModel

    private init(_ stage: ScriptStage, _ directory: String) throws {
        self.stage = stage
        self.directory = directory
        model = stage.emptyModel
        store = try stage.open(directory)
    }

    /// Returns the first difference between the store and the model, if any, after calling `finally` with both.
    static func failure(
        of script: Script, on stage: ScriptStage,
        finally: (any LocalStore, StoreModel) throws -> Void = { _, _ in }
    ) throws -> ScriptFailure? {
        try stage.withFolder { directory in
            var step = 0
            do {
                var run = try ScriptRun(stage, directory)
                defer { run.end() }
                while step < script.steps.count {
                    try run.perform(script.steps[step])
                    step += 1
                }
                step -= 1
                try run.release()
                try finally(run.store, run.model)
                return nil
            } catch var failure as ScriptFailure {
                failure.step = step
                return failure
            } catch let error as HarnessError {
                throw error
            } catch {
                return ScriptFailure(
                    step: step, place: .step, promise: .success, message: "unexpected error: \(text(error))"
                )
            }
        }
    }

    private mutating func perform(_ step: Script.Step) throws {
        switch step {
        case .define(let schemas): try define(schemas)
        case .reopen: try reopen()
        case .hold: try hold()
        case .release: try release()
        case .write(let changes, let commits): try write(WritePlan(changes, commits: commits, in: model), changes)
        }
        let model = model
        if let failure = try store.read({ try model.failure(in: $0) }) { throw failure }
    }

    /// Ends all open reads, also after a failure.
    private mutating func end() {
        _ = try? held?.release()
        held = nil
        try? store.close()
    }

    // MARK: Steps

    private mutating func define(_ schemas: [TableSchema]) throws {
        try release()
        var next = model
        var code: StoreError.Code?
        do throws(Refusal) { try next.define(schemas) } catch { code = error.code }
        let store = store
        if let code {
            try ScriptRun.expecting(code) { try store.define(schemas) }
        } else {
            try store.define(schemas)
        }
        model = next
        let found = try store.tables()
        guard found == model.schemas else {
            let message = "tables(): found \(CheckContext.text(found)), expected \(CheckContext.text(model.schemas))"
            throw ScriptFailure(.definitions(model.schemas), message)
        }
    }

    private mutating func reopen() throws {
        guard stage.capabilities.isPersistent else { return }
        try release()
        try store.close()
        store = try stage.open(directory)
    }

    private mutating func hold() throws {
        guard held == nil, !model.tables.isEmpty, stage.capabilities.readersDoNotBlockWriters else { return }
        held = try HeldRead(store, model, patience: stage.patience)
    }

    private mutating func release() throws {
        let failure = try held?.release()
        held = nil
        if let failure { throw failure }
    }

    /// Makes the changes in one write of the store, which must go as planned.
    private mutating func write(_ plan: WritePlan, _ changes: [Script.Change]) throws {
        switch plan.end {
        case .commits: try store.write { try ScriptRun.perform(changes, plan, by: $0) }
        case .rollsBack:
            do {
                try store.write { writer in
                    try ScriptRun.perform(changes, plan, by: writer)
                    throw RollBack()
                }
                throw ScriptFailure(.ownError, "a write returns although its body throws")
            } catch is RollBack {
            } catch let error as StoreError {
                throw ScriptFailure(.ownError, "the write throws \(error) instead of the body's own error")
            }
        case .refused(let code):
            try ScriptRun.expecting(code) { try store.write { try ScriptRun.perform(changes, plan, by: $0) } }
        case .fails: try ScriptRun.expecting(nil) { try store.write { try ScriptRun.perform(changes, plan, by: $0) } }
        }
        model = plan.model
    }
}

extension ScriptRun {
    private static func perform(_ changes: [Script.Change], _ plan: WritePlan, by writer: some StoreWriter) throws {
        for (number, (expectation, model)) in plan.steps.enumerated() {
            let change = changes[number]
            do {
                try perform(change, expecting: expectation, by: writer)
                guard case .result = expectation else { continue }
                let isLast = number == plan.steps.count - 1
                let failure = try model.failure(in: writer, table: change.table, isQuick: !isLast)
                if let failure { throw failure }
            } catch let failure as ScriptFailure {
                throw failure.at(.change(number))
            } catch let error as StoreError {
                guard case .refusal(let code) = expectation, error.code == code else {
                    throw ScriptFailure(.success, "an unexpected error was thrown: \(error)").at(.change(number))
                }
                throw error
            }
        }
    }

    private static func perform(
        _ change: Script.Change, expecting expectation: WritePlan.Expectation, by writer: some StoreWriter
    ) throws {
        switch expectation {
        case .result(let expected): try compare(perform(change, expected, by: writer), expected, change)
        case .refusal(let code):
            let error = try refusal(code) { _ = try perform(change, .done, by: writer) }
            throw error
        case .refusedBeforehand(let code), .spoiling(let code):
            try expecting(code) { _ = try perform(change, .done, by: writer) }
        case .anything: _ = try? perform(change, .done, by: writer)
        }
    }

    private static func compare(_ found: Script.Result, _ expected: Script.Result, _ change: Script.Change) throws {
        switch (found, expected) {
        case (.deletion(let count, _), .deletion(let right, _)) where count != right:
            throw ScriptFailure(.deletion(right), "\(change.swiftSource): \(count) rows deleted, expected \(right)")
        case (.answer(let answer), .answer(let right)):
            guard case .look(let query) = change, let difference = answer.difference(from: right) else { return }
            throw ScriptFailure(.answer(query, right), "\(query.swiftSource): \(difference)")
        default: return
        }
    }

    /// Makes the call. If the store cannot answer the query, it is skipped, or its rows are deleted by identifier.
    private static func perform(
        _ change: Script.Change, _ expected: Script.Result, by writer: some StoreWriter
    ) throws -> Script.Result {
        do {
            return try perform(change, by: writer)
        } catch let error as StoreError where error.code == .unsupportedQuery {
            switch (change, expected) {
            case (.deleteMatching(let query), .deletion(_, let ids)):
                return .deletion(try writer.delete(ids: ids, from: query.table), ids)
            case (.look, .answer): return expected
            default: throw error
            }
        }
    }

    private static func perform(_ change: Script.Change, by writer: some StoreWriter) throws -> Script.Result {
        switch change {
        case .upsert(let rows, let table), .attempt(let rows, let table):
            try writer.upsert(rows, into: table)
            return .done
        case .delete(let ids, let table): return .deletion(try writer.delete(ids: ids, from: table), ids)
        case .deleteMatching(let query): return .deletion(try writer.delete(matching: query), [])
        case .look(let query): return .answer(try Answer.of(writer, query))
        }
    }

    /// Makes a call that must be refused.
    private static func expecting(_ code: StoreError.Code?, _ call: () throws -> Void) throws {
        _ = try refusal(code, call)
    }

    /// Returns the error of a call that must be refused.
    private static func refusal(_ code: StoreError.Code?, _ call: () throws -> Void) throws -> StoreError {
        do {
            try call()
        } catch let error as StoreError {
            guard code == nil || error.code == code else {
                throw ScriptFailure(.refusal(code), "refused with \(error), expected \(code.map { "\($0)" } ?? "")")
            }
            return error
        }
        throw ScriptFailure(.refusal(code), "nothing was thrown, expected \(code.map { "\($0)" } ?? "an error")")
    }

    private static func text(_ error: any Error) -> String { (error as? CheckFailure)?.message ?? "\(error)" }
}

/// A read that another thread keeps open during the script, and that must see the same state at its end.
final class HeldRead: Sendable {
    private let released = DispatchSemaphore(value: 0)
    private let begun = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let outcome = Mutex<Result<ScriptFailure?, any Error>>(.success(nil))
    private let model: StoreModel
    private let patience: Double

    /// Starts a read and returns after it has read everything.
    init(_ store: any LocalStore, _ model: StoreModel, patience: Double) throws {
        self.model = model
        self.patience = patience
        let thread = Thread { [self] in
            let result = Result { try store.read { try look(at: $0) } }
            outcome.withLock { $0 = result }
            begun.signal()
            ended.signal()
        }
        thread.stackSize = 8 << 20
        thread.start()
        try wait(for: begun)
    }

    /// Ends the read, and returns the differences that it found.
    func release() throws -> ScriptFailure? {
        released.signal()
        try wait(for: ended)
        return try outcome.withLock { try $0.get() }?.at(.held)
    }

    private func look(at reader: some StoreReader) throws -> ScriptFailure? {
        if let failure = try model.failure(in: reader) { return failure }
        begun.signal()
        try wait(for: released)
        return try model.failure(in: reader)
    }

    private func wait(for semaphore: DispatchSemaphore) throws {
        guard semaphore.wait(timeout: .now() + patience) == .success else {
            throw CheckFailure("a read on another thread, or a call beside it, does not return")
        }
    }
}
