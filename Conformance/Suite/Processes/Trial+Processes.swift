internal import Foundation
internal import TidelineStore

/// A second process that no longer answers.
struct ChildHang: Error {
    var message: String

    init(_ message: String) { self.message = message }
}

extension Trial {
    /// Calls `body` with a second process that takes these steps. Whatever is left of it afterwards is killed.
    ///
    /// - Parameter environment: What its environment has beyond this process' own.
    func child<T>(_ steps: [ChildStep], environment: [String: String] = [:], body: (ChildProcess) throws -> T) throws
        -> T
    {
        guard let command = harness.process else { throw KitError("the harness starts no second process") }
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

    /// Lets a second process take these steps to their end, and fails unless it can.
    /// - Returns: What it printed.
    @discardableResult
    func childFinishing(_ steps: [ChildStep], environment: [String: String] = [:]) throws -> [String] {
        let end = try child(steps, environment: environment) { try $0.finish() }
        try expect(end.isWell, "a second process should do its work, but \(end)")
        return end.lines
    }

    /// What opens the store of that name.
    func opening(_ name: String = "store") throws -> StoreOpening { StoreOpening(directory: try folder(name)) }

    /// The steps that open the store of that name and make transactions in it.
    func writing(_ transactions: PairedTransactions, in name: String = "store") throws -> [ChildStep] {
        [.open(try opening(name)), .define(PairedTransactions.tables), .write(transactions)]
    }

    /// Waits until a second process has said each of these numbers.
    func expectNumbers(_ numbers: Range<Int>, from child: ChildProcess) throws {
        for number in numbers { try child.expect(String(number)) }
    }

    /// The steps as comments in the script, which is made for one process.
    private func note(_ steps: [ChildStep]) {
        trace.add(
            Trace.Entry(isExpression: false) {
                "// a second process: \(steps.map(\.description).joined(separator: "; "))"
            })
    }
}
