internal import Foundation
internal import TidelineStore

extension CheckContext {
    /// The number of damaged copies that a check of damage reads.
    var damages: Int { 40 * rounds }

    /// Reads damaged copies in a second process and fails unless each finding, perhaps with `io`, is allowed.
    /// A process that dies or hangs on a copy is a failure; another process reads the remaining copies.
    func expectDamage(
        _ damages: [Damage], of sample: DamageSample, allows: Set<DamageFinding.Verdict>, allowsIO: Bool = true,
        _ promise: String
    ) throws {
        var failures: [String] = []
        // A job is passed as an argument of a process, whose length is limited.
        for start in stride(from: 0, to: damages.count, by: 200) {
            var rest = damages[start..<min(start + 200, damages.count)]
            while !rest.isEmpty, failures.count < 5 {
                failures += try look(at: &rest, of: sample, allows: allows, allowsIO)
            }
        }
        let shown = failures.prefix(3).map { "  \($0)" }.joined(separator: "\n")
        try expect(failures.isEmpty, "\(promise), yet of \(damages.count) damaged copies:\n\(shown)")
    }

    /// Reads copies in one process until it dies, removes them from the list, and returns the disallowed findings.
    private func look(
        at damages: inout ArraySlice<Damage>, of sample: DamageSample, allows: Set<DamageFinding.Verdict>,
        _ allowsIO: Bool
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
                    if !allowsIO, let code = finding.otherCode {
                        failures.append("\(damage): the error has the code \(code): \(finding.detail)")
                    }
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
        guard end.signal != nil || end.failure == nil else { throw HarnessError("\(damage): \(end)") }
        return "\(damage): the process that opens and reads the store dies: \(end)"
    }
}

extension DamageFinding.Verdict {
    /// The finding, described for the store's author.
    fileprivate var text: String {
        switch self {
        case .right: "all data is read correctly"
        case .earlier: "an earlier state is read without an error"
        case .refused: "an error reports the damage"
        case .earlierAndRefused: "an earlier state is read, and an error reports the damage"
        case .wrong: "data that was never committed is read"
        case .badError: "the error does not report damage (corrupt, notAStore, newerFormat or io)"
        case .vague: "the error names neither the store's path nor the row"
        }
    }
}

/// The work of a second process on damaged stores: for each damage it copies a store, damages the copy, and reads it.
struct DamageJob: Codable, Sendable, CustomStringConvertible {
    /// The directory of an intact store.
    var sample: String
    /// The directory for the copies.
    var workshop: String
    /// The damages to apply.
    var damages: [Damage]

    /// A short description, because there are many damages.
    var description: String { "\(damages.count) damaged copies" }

    /// Makes the copies one by one and calls `body` with the directory of each.
    func forEachCopy(_ body: (String) throws -> Void) throws {
        for damage in damages {
            let folder = "\(workshop)/\(UUID().uuidString)"
            try FileManager.default.copyItem(atPath: sample, toPath: folder)
            try damage.apply(in: folder)
            try body(folder)
            try FileManager.default.removeItem(atPath: folder)
        }
    }
}

/// The result of reading a damaged store.
struct DamageFinding: Codable, Sendable {
    enum Verdict: String, Codable, Sendable {
        /// Every answer was correct.
        case right
        /// Every answer was correct for an earlier commit.
        case earlier
        /// An error reported the damage, and all answers before and after it were correct.
        case refused
        /// Like ``refused``, but the answers are those of an earlier commit.
        case earlierAndRefused
        /// Some answer is consistent with no commit.
        case wrong
        /// The error does not report damage.
        case badError
        /// The error does not name the damaged object.
        case vague
    }
    var verdict: Verdict
    /// The problem, or the text of the error.
    var detail: String
    /// The code of the first error that does not call the files damaged, or `nil` if there is none.
    var otherCode: StoreError.Code?
}
