internal import Foundation
internal import TidelineStore

extension Trial {
    /// How often a check of kills has a process killed.
    var kills: Int { 5 * rounds }

    /// Has a second process take steps that go on for long, and kills it.
    ///
    /// - Parameters:
    ///   - lines: After how many lines it is killed.
    ///   - delay: How long it is left alone after that, as a share of the time between the last two lines.
    /// - Returns: How many lines it printed before it died.
    func killing(_ steps: [ChildStep], after lines: Int, delay: Double = 0) throws -> Int {
        try child(steps) { child in
            var pace = Duration.zero
            for _ in 0..<lines {
                let start = ContinuousClock.now
                guard try child.next() != nil else { break }
                pace = ContinuousClock.now - start
            }
            try child.kill(after: pace * delay)
            return lines + (try finishKilled(child).lines.count)
        }
    }

    /// Has a second process take steps, and kills it while it is at those between the lines `begin` and `end`.
    ///
    /// - Parameters:
    ///   - steps: What it does; a step that waits comes last.
    ///   - span: How long those steps take. While it is not known they are taken to their end, to measure it.
    ///   - share: When the process is killed, as a share of that time.
    func killing(_ steps: [ChildStep], within span: inout Duration?, at share: Double) throws {
        try child(steps) { child in
            while let line = try child.next(), line != ChildLine.begin {}
            let start = ContinuousClock.now
            if let span {
                try child.kill(after: span * share)
            } else {
                try child.expect(ChildLine.end)
                span = ContinuousClock.now - start
                child.kill()
            }
            _ = try finishKilled(child)
        }
    }

    private func finishKilled(_ child: ChildProcess) throws -> ChildEnd {
        let end = try child.finish()
        try expect(
            end.signal == ChildEnd.killSignal, "a second process should be at work until it is killed, but \(end)")
        return end
    }
}

extension ChildProcess {
    /// Kills it after a while: what a kill finds half done depends on the moment, so moments are chosen at random.
    fileprivate func kill(after delay: Duration) throws {
        if delay > .zero { Thread.sleep(forTimeInterval: delay / .seconds(1)) }
        kill()
    }
}
