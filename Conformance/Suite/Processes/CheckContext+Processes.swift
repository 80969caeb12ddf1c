internal import Foundation
internal import TidelineStore

/// A second process that no longer responds.
struct ChildHang: Error {
    var message: String

    init(_ message: String) { self.message = message }
}

extension CheckContext {
    /// Calls `body` with a second process that carries out the steps, with more environment variables. It is killed
    /// afterwards if it is still running.
    func child<T>(_ steps: [ChildStep], environment: [String: String] = [:], body: (ChildProcess) throws -> T) throws
        -> T
    {
        guard let command = harness.process else { throw HarnessError("the harness cannot start a second process") }
        note(steps)
        let limit = wait(.process)
        do {
            let child = try ChildProcess(
                command, job: ChildJob(steps: steps), environment: environment,
                errorFile: "\(try folder("errors"))/\(UUID().uuidString)",
                patience: limit.seconds)
            defer { child.kill() }
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

    /// The number of kills in a check of kills.
    var kills: Int { 5 * rounds }

    /// Runs long steps in a second process and kills it.
    ///
    /// - Parameters:
    ///   - lines: The number of lines after which it is killed.
    ///   - delay: The additional delay, as a fraction of the time between the last two lines, or of ten seconds if that
    ///     is shorter.
    /// - Returns: The number of lines that it printed before it died.
    func killing(_ steps: [ChildStep], after lines: Int, delay: Double = 0) throws -> Int {
        // A process that completes its steps before the kill, which may be late on a busy machine, waits for it.
        try child(steps + [.wait]) { child in
            var pace = Duration.zero
            for _ in 0..<lines {
                let start = ContinuousClock.now
                guard try child.next() != nil else { break }
                pace = ContinuousClock.now - start
            }
            try child.kill(after: min(pace, .seconds(10)) * delay)
            return lines + (try finishKilled(child).lines.count { $0 != ChildLine.waiting })
        }
    }

    /// Runs steps in a second process and kills it meanwhile.
    ///
    /// - Parameters:
    ///   - preparation: Steps that are complete before the kill.
    ///   - span: The duration of the steps. While it is unknown, they run to their end to measure it. If they end
    ///     before a kill, as after a measurement on a busy machine, it becomes at most the time until the kill.
    ///   - share: The time of the kill, as a fraction of that duration.
    func killing(
        _ steps: [ChildStep], after preparation: [ChildStep] = [], within span: inout Duration?, at share: Double
    ) throws {
        let job = preparation + [.say(ChildLine.begin)] + steps + [.say(ChildLine.end), .wait]
        try child(job) { child in
            while let line = try child.next(), line != ChildLine.begin {}
            let start = ContinuousClock.now
            if let span {
                try child.kill(after: span * share)
            } else {
                try child.expect(ChildLine.end)
                span = ContinuousClock.now - start
                child.kill()
            }
            let elapsed = ContinuousClock.now - start
            if try finishKilled(child).lines.contains(ChildLine.end) { span = span.map { min($0, elapsed) } }
        }
    }

    private func finishKilled(_ child: ChildProcess) throws -> ChildEnd {
        let end = try child.finish()
        try expect(end.signal == ChildEnd.killSignal, "a second process should work until it is killed, but \(end)")
        return end
    }
}

extension ChildProcess {
    /// Kills the process and waits for its end.
    func killAndFinish() throws {
        kill()
        _ = try finish()
    }

    /// Kills the process after a delay. The effect of a kill depends on its timing, so the delays are random.
    fileprivate func kill(after delay: Duration) throws {
        if delay > .zero { Thread.sleep(forTimeInterval: delay / .seconds(1)) }
        kill()
    }
}
