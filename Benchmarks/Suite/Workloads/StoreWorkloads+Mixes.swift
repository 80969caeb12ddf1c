#if Commands
internal import TidelineStore

extension StoreWorkloads {
    /// The core workloads of YCSB, and workload C with a uniform distribution, which shows the effect of caching.
    var mixes: [Workload] {
        [
            mix("a", "half reads, half updates", [.read: 50, .update: 50], .zipfian, steps: 2000),
            mix("b", "95 % reads, 5 % updates", [.read: 95, .update: 5], .zipfian, steps: 10_000),
            mix("c", "reads", [.read: 100], .zipfian, steps: 20_000),
            mix("c-uniform", "reads, uniform distribution", [.read: 100], .uniform, steps: 20_000),
            mix("d", "95 % reads of the latest, 5 % inserts", [.read: 95, .insert: 5], .latest, steps: 10_000),
            mix("e", "95 % short scans, 5 % inserts", [.scan: 95, .insert: 5], .zipfian, steps: 2000),
            mix("f", "half reads, half read-modify-write", [.read: 50, .readModifyWrite: 50], .zipfian, steps: 2000),
        ]
    }

    private func mix(
        _ name: String, _ title: String, _ shares: KeyValuePairs<MixPlan.Kind, Int>, _ choice: KeyChooser.Choice,
        steps: Int
    ) -> Workload {
        let plan = MixPlan(shares: shares.map { ($0, $1) }, choice: choice, count: operations(steps))
        return Workload(
            "ycsb-\(name)", .mixes, "YCSB \(name.prefix(1).uppercased()): \(title)",
            explanation: """
                Workload \(name.prefix(1).uppercased()) of the Yahoo! Cloud Serving Benchmark on one thread: \(title), \
                each in its own transaction; \(choice.explanation).
                """,
            unit: "operation", units: plan.count, start: .loaded(source.table),
            steps: [{ [.mix(try makeSteps(plan))] }],
            restore: {
                let planned = planned(plan)
                let changed = Set(planned.compactMap(\.changed)).sorted()
                let inserted = planned.compactMap(\.inserted)
                return (changed.isEmpty ? [] : [try writing(changed, of: source)])
                    + (inserted.isEmpty ? [] : [deleting(inserted)])
            })
    }

    private func planned(_ plan: MixPlan) -> [MixPlan.Step] {
        var random = random(3)
        return plan.steps(rows: rows, random: &random)
    }

    private func makeSteps(_ plan: MixPlan) throws -> [MixedStep] {
        try planned(plan).enumerated().map { position, step in
            switch step {
            case .read(let row): .read(source.id(row))
            case .update(let row): .update(source.id(row), text: source.text(row, revision: position + 1))
            case .insert(let row): .insert(try source.batch([row]))
            case .scan(let row, let count): .scan(from: source.id(row), count: count)
            case .readModifyWrite(let row):
                .readModifyWrite(source.id(row), text: source.text(row, revision: position + 1))
            }
        }
    }
}

extension KeyChooser.Choice {
    fileprivate var explanation: String {
        switch self {
        case .uniform: "all rows are equally likely"
        case .zipfian: "a few rows are much more likely (zipfian, scattered)"
        case .latest: "rows inserted later are more likely"
        }
    }
}
#endif
