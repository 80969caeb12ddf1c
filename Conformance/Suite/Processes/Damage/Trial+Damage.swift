internal import Foundation
internal import TidelineStore

extension Trial {
    /// How many damaged copies a check of damage looks at.
    var damages: Int { 40 * rounds }

    /// Has a second process look at damaged copies, and fails unless what it finds is allowed for each.
    ///
    /// A process that dies of one, or does not come back, is a failure; another one looks at the rest.
    func expectDamage(
        _ damages: [Damage], of sample: DamageSample, allows: Set<DamageFinding.Verdict>, _ promise: String
    ) throws {
        var failures: [String] = []
        // A job is an argument of a process, whose length is limited.
        for start in stride(from: 0, to: damages.count, by: 200) {
            var rest = damages[start..<min(start + 200, damages.count)]
            while !rest.isEmpty, failures.count < 5 {
                failures += try look(at: &rest, of: sample, allows: allows)
            }
        }
        let shown = failures.prefix(3).map { "  \($0)" }.joined(separator: "\n")
        try expect(failures.isEmpty, "\(promise), yet of \(damages.count) damaged copies:\n\(shown)")
    }

    /// Has one process look at copies until it dies, takes those off, and tells what is not allowed.
    private func look(
        at damages: inout ArraySlice<Damage>, of sample: DamageSample, allows: Set<DamageFinding.Verdict>
    ) throws -> [String] {
        let job = DamageJob(sample: sample.folder, workshop: try folder("damaged"), damages: Array(damages))
        return try child([.inspect(job)]) { child in
            var failures: [String] = []
            while let damage = damages.first {
                do {
                    guard let line = try child.next() else {
                        failures.append(try death(of: child, damage))
                        damages.removeFirst()
                        return failures
                    }
                    damages.removeFirst()
                    let finding = try JSONDecoder().decode(DamageFinding.self, from: Data(line.utf8))
                    if allows.contains(finding.verdict) { continue }
                    failures.append("\(damage): \(finding.verdict.text): \(finding.detail)")
                } catch let hang as ChildHang {
                    damages.removeFirst()
                    return failures + ["\(damage): \(hang.message)"]
                }
            }
            _ = try child.finish()
            return failures
        }
    }

    private func death(of child: ChildProcess, _ damage: Damage) throws -> String {
        let end = try child.finish()
        guard end.signal != nil || end.failure == nil else { throw KitError("\(damage): \(end)") }
        return "\(damage): the process that opens the store and reads it dies, \(end)"
    }
}

extension DamageFinding.Verdict {
    /// What it says, for the store's author.
    fileprivate var text: String {
        switch self {
        case .right: "all is read as it was"
        case .earlier: "without an error, an earlier state is read"
        case .refused: "an error tells of it"
        case .earlierAndRefused: "beside an error, an earlier state is read"
        case .wrong: "what is read was never committed"
        case .badError: "the error does not tell of damage (corrupt, newerFormat or io)"
        case .vague: "the error names neither the store's path nor the row"
        }
    }
}
