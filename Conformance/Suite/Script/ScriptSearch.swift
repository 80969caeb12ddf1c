internal import TidelineStore

/// Searches for a script on which a store fails and shortens it as far as possible.
struct ScriptSearch {
    let stage: ScriptStage
    /// The name of the check, for the printed script.
    let name: String

    init(stage: ScriptStage, name: String) {
        self.stage = stage
        self.name = name
    }

    init(_ context: CheckContext, _ name: String) { self.init(stage: ScriptStage(context), name: name) }

    /// Runs scripts from seeds, and throws a failure with the shortest script found, printed as Swift.
    func run(seeds: some Sequence<UInt64>, steps: Int, options: RandomScript.Options) throws {
        for seed in seeds {
            var scripts = RandomScript(seed: seed, options: options)
            try run(scripts.next(steps: steps), seed: seed)
        }
    }

    /// Runs a script.
    func run(_ script: Script, seed: UInt64) throws {
        guard let failure = try ScriptRun.failure(of: script, on: stage) else { return }
        throw report(script, failure, seed)
    }

    private func report(_ script: Script, _ failure: ScriptFailure, _ seed: UInt64) -> CheckFailure {
        // The steps after the failed one are removed.
        let cut = Script(steps: Array(script.steps.prefix(failure.step + 1)))
        let (short, shortFailure) = shrunk(cut)
        guard let shortFailure else {
            return CheckFailure(
                "a script made with seed \(seed) fails at step \(failure.step), but not every time: \(failure.message)",
                script: text(cut, failure, seed))
        }
        let message = "after \(short.steps.count) steps, made with seed \(seed): \(shortFailure.message)"
        return CheckFailure(message, script: text(short, shortFailure, seed))
    }

    private func shrunk(_ script: Script) -> (Script, ScriptFailure?) {
        let short = shrink(script, smaller: \.smaller) { (try? ScriptRun.failure(of: $0, on: stage)) != nil }
        return (short, try? ScriptRun.failure(of: short, on: stage))
    }

    private func text(_ script: Script, _ failure: ScriptFailure, _ seed: UInt64) -> String {
        let message = failure.message.split(whereSeparator: \.isNewline).joined(separator: " ")
        return ScriptPrinter.text(
            of: script, failure, on: stage, name: name, comment: "\(name), seed \(seed): \(message)")
    }
}
