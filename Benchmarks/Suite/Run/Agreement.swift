internal import TidelineSupport

/// Whether the subjects' answers are right.
struct Agreement {
    /// The right answer and the right contents; nil where only the subjects can tell.
    let expected: Repetition.Outcome?

    /// Those of a repetition whose answers are wrong, each with what is wrong.
    ///
    /// Without a known answer, the one that most subjects gave is held to be right; where no answer has more voices than any
    /// other, all that differ are in doubt, and none counts.
    func mistakes(_ outcomes: [(subject: String, outcome: Repetition.Outcome)]) -> [String: String] {
        var mistakes: [String: String] = [:]
        for (what, value) in Self.parts(outcomes.map(\.outcome).max { $0.allRows.count < $1.allRows.count }) {
            let right = expected.map(value) ?? Self.mostFrequent(outcomes.map { value($0.outcome) })
            for (subject, outcome) in outcomes where mistakes[subject] == nil {
                guard let found = value(outcome), found != right else { continue }
                mistakes[subject] = Self.text(what, found, right)
            }
        }
        return mistakes
    }

    /// What is compared: the answer, and all rows at the times they were read.
    private static func parts(_ longest: Repetition.Outcome?) -> [(String, (Repetition.Outcome) -> Answer?)] {
        let times = ["all rows after the work", "all rows after it was undone"]
        let reads = times.indices.prefix(longest?.allRows.count ?? 0)
        return [("the answer", { $0.answer })]
            + reads.map { place in (times[place], { $0.allRows.indices.contains(place) ? $0.allRows[place] : nil }) }
    }

    private static func mostFrequent(_ answers: [Answer?]) -> Answer? {
        let counts = Dictionary(answers.compactMap { answer in answer.map { ($0, 1) } }, uniquingKeysWith: +)
        let most = counts.values.max() ?? 0
        let winners = counts.filter { $0.value == most }
        return winners.count == 1 ? winners.keys.first : nil
    }

    private static func text(_ what: String, _ found: Answer, _ right: Answer?) -> String {
        "\(what): \(text(found))"
            + (right.map { ", expected was \(text($0))" } ?? "; the subjects disagree, and none is known to be right")
    }

    private static func text(_ answer: Answer) -> String {
        "\(counted(answer.count, "row")) with checksum \(String(answer.checksum, radix: 16))"
    }
}
