internal import Foundation
internal import TidelineStore

/// A second process that no longer responds.
struct ChildHang: Error {
    var message: String

    init(_ message: String) { self.message = message }
}

extension CheckContext {
    /// Calls `body` with a second process that carries out the steps. The process is killed afterwards if it is still
    /// running.
    ///
    /// - Parameter environment: Environment variables in addition to those of this process.
    func child<T>(_ steps: [ChildStep], environment: [String: String] = [:], body: (ChildProcess) throws -> T) throws
        -> T
    {
        guard let command = harness.process else { throw HarnessError("the harness cannot start a second process") }
        note(steps)
        let limit = wait(.process)
        let child = try ChildProcess(
            command, job: ChildJob(steps: steps), environment: environment,
            errorFile: "\(try folder("errors"))/\(UUID().uuidString)",
            patience: limit.seconds)
        defer { child.kill() }
        do {
            return try body(child)
        } catch let hang as ChildHang {
            throw TimeOut(kind: .process, message: hang.message, wait: limit)
        }
    }

    /// Runs the steps in a second process to their end, fails unless they succeed, and returns the printed lines.
    @discardableResult
    func childFinishing(_ steps: [ChildStep], environment: [String: String] = [:]) throws -> [String] {
        let end = try child(steps, environment: environment) { try $0.finish() }
        try expect(end.isWell, "a second process should complete its job, but \(end)")
        return end.lines
    }

    /// Waits for the end of a process and fails unless it completed its job.
    @discardableResult
    func finish(_ child: ChildProcess, _ what: String) throws -> ChildEnd {
        let end = try child.finish()
        try expect(end.isWell, "\(what) fails: \(end)")
        return end
    }

    /// Returns the opening of the store with the given name.
    func opening(_ name: String = "store") throws -> StoreOpening { StoreOpening(directory: try folder(name)) }

    /// Returns the steps that open the store with the given name and make transactions in it.
    func writing(_ transactions: PairedTransactions, in name: String = "store") throws -> [ChildStep] {
        [.open(try opening(name)), .define(PairedTransactions.tables), .write(transactions)]
    }

    /// Waits until a second process has printed each of these numbers.
    func expectNumbers(_ numbers: Range<Int>, from child: ChildProcess) throws {
        for number in numbers { try child.expect(String(number)) }
    }

    /// Adds the steps as comments to the script, which is for one process.
    private func note(_ steps: [ChildStep]) {
        trace.add(
            Trace.Entry(isExpression: false) {
                "// a second process: \(steps.map(\.description).joined(separator: "; "))"
            })
    }
}
