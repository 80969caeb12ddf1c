internal import TidelineStore

extension Script.Change: SwiftSource {
    /// The writer call that makes the change.
    var swiftSource: String {
        switch self {
        case .upsert(let rows, let table), .attempt(let rows, let table):
            "writer.upsert(\(rows.swiftSource) as [Row], into: \(table.swiftSource))"
        case .delete(let ids, let table): "writer.delete(ids: \(ids.swiftSource), from: \(table.swiftSource))"
        case .deleteMatching(let query): "writer.delete(matching: \(query.swiftSource))"
        case .look(let query): "writer.rows(matching: \(query.swiftSource))"
        }
    }
}

extension ScriptFailure.Promise {
    /// Returns statements that throw unless the promise holds for the reader. A call's promise is shown by the call.
    func statements(of reader: String) -> [String] {
        switch self {
        case .success, .refusal, .ownError, .deletion, .definitions: []
        case .answer(let query, let answer):
            [
                "let query = \(query.swiftSource)",
                "let rows: [Row] = \(answer.rows.swiftSource)",
                "let found = try \(reader).rows(matching: query)",
                "try expect(found.rows.map(spelled), rows.map(spelled), \"the rows of the query\")",
                "try expect(found.totalCount, \(answer.totalCount.map(String.init) ?? "nil"), \"the total count\")",
                "try expect(try \(reader).count(query), \(answer.matching), \"the count\")",
            ]
        case .row(let table, let id, let row):
            [
                "let row: Row? = \(row?.swiftSource ?? "nil")",
                "let found = try \(reader).row(in: \(table.swiftSource), id: \(id.swiftSource))",
                "try expect(found.map(spelled), row.map(spelled), \"the row looked up by its id\")",
            ]
        }
    }
}

/// Prints a script as self-contained Swift that throws if the store breaks the promise.
struct ScriptPrinter {
    private let script: Script
    private let failure: ScriptFailure
    private let isPersistent: Bool
    private var model: StoreModel
    private var lines: [String] = []
    /// The tables to read when a read begins, while one is open.
    private var isHeld = false
    private var holdsReads = false

    private init(_ script: Script, _ failure: ScriptFailure, _ stage: ScriptStage) {
        self.script = script
        self.failure = failure
        isPersistent = stage.capabilities.isPersistent
        model = stage.emptyModel
    }

    /// Returns a file with a function whose parameter opens a store.
    static func text(of script: Script, _ failure: ScriptFailure, on stage: ScriptStage, name: String, comment: String)
        -> String
    {
        var printer = ScriptPrinter(script, failure, stage)
        printer.printSteps()
        let opening = printer.script.steps.contains { if case .reopen = $0 { true } else { false } } ? "var" : "let"
        let start = [
            "// \(comment)",
            "func \(name)(_ open: (_ directory: String) throws -> any LocalStore) throws {",
            "    \(opening) store = try open(\"store\")",
        ]
        let imports = printer.holdsReads ? ["import Foundation", "import Synchronization"] : []
        let helpers = ScriptPrinter.helpers + (printer.holdsReads ? ["", ScriptPrinter.holding] : [])
        return
            (imports + ["import TidelineStore", ""] + start + printer.lines.map { "    \($0)" } + ["}", ""] + helpers)
            .joined(separator: "\n")
    }

    // MARK: Steps

    private mutating func printSteps() {
        for (number, step) in script.steps.prefix(failure.step + 1).enumerated() {
            let isLast = number == failure.step
            printStep(step, failing: isLast && !isAfterStep ? failure : nil)
            if isLast, case .step = failure.place { printPromiseAfterStep() }
        }
        if isHeld { release() }
    }

    /// Whether the step itself succeeds.
    private var isAfterStep: Bool {
        guard case .step = failure.place else { return false }
        return !failure.promise.statements(of: "reader").isEmpty
    }

    private mutating func printPromiseAfterStep() {
        if case .definitions(let schemas) = failure.promise {
            lines.append("try expect(try store.tables(), \(schemas.swiftSource), \"the definitions\")")
        }
        let statements = failure.promise.statements(of: "reader")
        guard !statements.isEmpty else { return }
        lines += ["try store.read { reader in"] + statements.map { "    \($0)" } + ["}"]
    }

    private mutating func printStep(_ step: Script.Step, failing: ScriptFailure?) {
        switch step {
        case .define(let schemas):
            release()
            let call = "try store.define(\(schemas.swiftSource))"
            var next = model
            if (try? next.define(schemas)) != nil {
                lines.append(call)
                model = next
            } else {
                lines.append("try expectError(.schemaMismatch) { \(call) }")
            }
        case .reopen:
            guard isPersistent else { return }
            release()
            lines += ["try store.close()", "store = try open(\"store\")"]
        case .hold: hold()
        case .release: release()
        case .write(let changes, let commits):
            let plan = WritePlan(changes, commits: commits, in: model)
            printWrite(changes, plan, failing)
            model = plan.model
        }
    }

    private mutating func hold() {
        guard !isHeld, let table = model.schemas.first else { return }
        (isHeld, holdsReads) = (true, true)
        var statements = ["_ = try reader.count(TableQuery(\(table.name.swiftSource)))"]
        if case .held = failure.place { statements = failure.promise.statements(of: "reader") }
        lines += ["let release\(lines.count) = try hold(store) { reader in"] + statements.map { "    \($0)" } + ["}"]
    }

    private mutating func release() {
        guard isHeld else { return }
        isHeld = false
        let name = lines.last { $0.hasPrefix("let release") }?.dropFirst(4).prefix { $0 != " " } ?? ""
        lines.append("try \(name)()")
    }

    // MARK: Writes

    private mutating func printWrite(_ changes: [Script.Change], _ plan: WritePlan, _ failing: ScriptFailure?) {
        var body: [String] = []
        var isCut = false
        for (number, (expectation, _)) in plan.steps.enumerated() where !isCut {
            var promise: ScriptFailure.Promise?
            if case .change(number)? = failing?.place { promise = failing?.promise }
            body += ScriptPrinter.lines(changes[number], expectation, promise)
            isCut = promise != nil
        }
        if case .rollsBack = plan.end { body.append("throw RollBack()") }
        let (start, end) = ScriptPrinter.frame(plan.end)
        lines += ["\(start)try store.write { writer in"] + body.map { "    \($0)" } + ["}\(end)"]
    }

    /// Returns the text before and after a write that catches only the expected error.
    private static func frame(_ end: WritePlan.End) -> (String, String) {
        switch end {
        case .commits: ("", "")
        case .rollsBack: ("try expectRollBack { ", " }")
        case .refused(let code): ("try expectError(.\(code)) { ", " }")
        case .fails: ("try expectError(nil) { ", " }")
        }
    }

    private static func lines(
        _ change: Script.Change, _ expectation: WritePlan.Expectation, _ promise: ScriptFailure.Promise?
    ) -> [String] {
        let call = change.swiftSource
        let start = change.givesResult ? "_ = " : ""
        switch (expectation, promise) {
        case (_, .deletion(let count)?): return ["try expect(try \(call), \(count), \"the deleted rows\")"]
        case (.result, let promise?): return ["\(start)try \(call)"] + promise.statements(of: "writer")
        case (.result, nil): return ["\(start)try \(call)"]
        case (.refusal(let code), nil): return ["\(start)try \(call)  // throws \(code)"]
        case (.refusal(let code), _?):
            return ["try expectError(.\(code)) { \(start)try \(call) }", "throw StoreError(.\(code), \"as expected\")"]
        case (.refusedBeforehand(let code), _), (.spoiling(let code), _):
            return ["try expectError(.\(code)) { \(start)try \(call) }"]
        case (.anything, _): return ["\(start)try? \(call)"]
        }
    }
}

extension Script.Change {
    fileprivate var givesResult: Bool {
        switch self {
        case .upsert, .attempt: false
        case .delete, .deleteMatching, .look: true
        }
    }
}

extension ScriptPrinter {
    /// Functions that every printed script calls.
    static let helpers = [
        """
        struct RollBack: Error {}

        struct BrokenPromise: Error { var message: String }

        func expect<T: Equatable>(_ found: T, _ expected: T, _ what: String) throws {
            guard found == expected else { throw BrokenPromise(message: "\\(what): \\(found), expected \\(expected)") }
        }

        func expectError(_ code: StoreError.Code?, _ call: () throws -> Void) throws {
            do { try call() } catch let error as StoreError where code == nil || error.code == code { return }
            throw BrokenPromise(message: "nothing was thrown, expected \\(code.map { "\\($0)" } ?? "an error")")
        }

        func expectRollBack(_ write: () throws -> Void) throws {
            do { try write() } catch is RollBack { return }
            throw BrokenPromise(message: "the write does not rethrow the body's error")
        }

        /// Describes every value exactly, independently of the order of the columns.
        func spelled(_ row: Row) -> String {
            let columns = row.columnNames.sorted().map { "\\($0): \\(row[$0].map { exact($0) } ?? "nil")" }
            return "\\(row.id.map { exact($0.value) } ?? "no id") \\(columns)"
        }

        /// Describes text by its scalars, because equivalent texts would otherwise be equal.
        func exact(_ value: Value) -> String {
            switch value {
            case .string(let text), .json(let text): "\\(value.type as Any) \\(text.unicodeScalars.map(\\.value))"
            case .double(let number): "double \\(number.isNaN ? .nan : number)"
            default: "\\(value)"
            }
        }
        """
    ]

    /// Functions for scripts in which another thread reads.
    static let holding = """
        /// Begins a read on another thread, which looks immediately and again when the returned function is called.
        func hold(
            _ store: any LocalStore, _ look: @escaping @Sendable (any StoreReader) throws -> Void
        ) throws -> () throws -> Void {
            let (begun, released, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let problem = Mutex<(any Error)?>(nil)
            Thread.detachNewThread {
                do {
                    try store.read { reader in
                        try look(reader)
                        begun.signal()
                        released.wait()
                        try look(reader)
                    }
                } catch {
                    problem.withLock { $0 = error }
                    begun.signal()
                }
                ended.signal()
            }
            begun.wait()
            return {
                released.signal()
                ended.wait()
                if let error = problem.withLock({ $0 }) { throw error }
            }
        }
        """
}
