extension BenchmarkComparison {
    /// Makes sure that both measured the same thing.
    static func confirmSettings(_ old: BenchmarkSettings, _ new: BenchmarkSettings) throws(Mismatch) {
        let settings: [(name: String, old: String, new: String)] = [
            ("rows", "\(old.rows)", "\(new.rows)"), ("columns", "\(old.columns)", "\(new.columns)"),
            ("value size", "\(old.valueSize)", "\(new.valueSize)"),
            ("key order", old.keyOrder.rawValue, new.keyOrder.rawValue), ("batch", "\(old.batch)", "\(new.batch)"),
            ("readers", "\(old.readers)", "\(new.readers)"), ("seed", "\(old.seed)", "\(new.seed)"),
        ]
        for setting in settings where setting.old != setting.new {
            throw Mismatch(
                description: "the results cannot be compared: the setting \"\(setting.name)\" was \(setting.old), "
                    + "and is \(setting.new)")
        }
    }

    /// What makes the comparison doubtful.
    static func warnings(_ old: BenchmarkReport, _ new: BenchmarkReport) -> [String] {
        var warnings = differences(old, new).filter { $0.old != $0.new }.map { fact in
            "another \(fact.name): \(fact.old.debugDescription) before, \(fact.new.debugDescription) now"
        }
        for (report, name) in [(old, "old"), (new, "new")] {
            if BenchmarkFacts.isDebug(report) { warnings.append("the \(name) results are of a debug build: worthless") }
            if report.isInterrupted || report.stopReason != nil {
                warnings.append("the \(name) run did not come to its end")
            }
            if BenchmarkFacts.busyMachine(report.environment) != nil {
                warnings.append("other programs used the machine during the \(name) run")
            }
        }
        return warnings
    }

    private static func differences(
        _ old: BenchmarkReport, _ new: BenchmarkReport
    ) -> [(name: String, old: String, new: String)] {
        let (before, after) = (old.environment, new.environment)
        let engines = new.subjects.compactMap { subject in
            old.subjects.first { $0.name == subject.name }.map { was in
                ("version of \(subject.engine)", was.engineVersion ?? "unknown", subject.engineVersion ?? "unknown")
            }
        }
        let facts: [(String, String, String)] = [
            ("processor", before.processor, after.processor),
            ("number of processors", "\(before.host.processors)", "\(after.host.processors)"),
            ("memory size", BenchmarkWords.bytes(before.memory), BenchmarkWords.bytes(after.memory)),
            ("file system", before.fileSystem, after.fileSystem), ("system", before.host.system, after.host.system),
            ("kernel", before.host.kernel, after.host.kernel), ("compiler", before.host.swift, after.host.swift),
            ("build", before.host.build, after.host.build),
            ("number of warm-ups", "\(old.settings.warmUp)", "\(new.settings.warmUp)"),
        ]
        return facts
            + engines.reduce(into: []) { unique, engine in
                if !unique.contains(where: { $0.0 == engine.0 }) { unique.append(engine) }
            }
    }
}
