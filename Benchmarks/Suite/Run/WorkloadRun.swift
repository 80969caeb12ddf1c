internal import TidelineSupport

/// The repetitions of one workload with one number of rows; it belongs to the run's thread.
final class WorkloadRun {
    /// What a participant has come to.
    private struct Entry {
        let participant: Participant
        var samples: [Sample] = []
        var latencies = LatencySink.makeHistogram()
        var failure: SubjectResult.Failure?
    }

    private let workload: Workload
    private let rows: Int
    private let conduct: Conduct
    private let reference: Participant?
    private let works: WorkSet
    private var entries: [Entry]

    init(
        _ workload: Workload, rows: Int, participants: [Participant], reference: Participant?, conduct: Conduct
    ) {
        self.workload = workload
        self.rows = rows
        self.conduct = conduct
        self.reference = reference
        works = WorkSet(workload, rows: rows)
        entries = participants.map { Entry(participant: $0) }
    }

    /// Warm-ups and repetitions. What is found is told after each round, so that all subjects have equally many.
    func run() throws {
        let settings = conduct.settings
        try load()
        let agreement = Agreement(expected: try expected())
        for warmUp in 0..<settings.warmUp {
            try round(warmUp, number: nil, agreement, isLast: settings.repetitions == 0)
        }
        for repetition in 0..<settings.repetitions {
            try round(repetition, number: repetition + 1, agreement, isLast: repetition == settings.repetitions - 1)
            conduct.collector.put(result)
        }
        conduct.collector.put(result)
        conduct.tell(.ended(result))
    }

    /// What was found so far.
    private var result: WorkloadResult {
        WorkloadResult(
            id: workload.id, group: workload.group, title: workload.title, explanation: workload.explanation,
            unit: workload.unit, units: workload.units, rows: rows,
            subjects: entries.map { entry in
                // A subject that fails, or answers wrongly, has no figure: not of the repetitions before, either.
                let counts = entry.failure == nil
                return SubjectResult(
                    subject: entry.participant.subject.name, samples: counts ? entry.samples : [],
                    latency: counts ? LatencySummary(entry.latencies) : nil, failure: entry.failure)
            })
    }

    // MARK: Before

    private func load() throws {
        guard case .loaded(let table) = workload.start else { return }
        let participants = entries.map(\.participant) + [reference].compactMap(\.self)
        let missing = participants.filter { $0.loaded[table] == nil }
        guard !missing.isEmpty else { return }
        conduct.tell(.loading(rows: rows))
        try Loading(settings: conduct.settings, rows: rows, table: table).load(
            missing, confirm: conduct.confirm,
            failed: { participant, error in
                try note(error, of: participant, "the database could not be filled: ")
            })
    }

    /// What the reference answers; nil where it has no answer.
    private func expected() throws -> Repetition.Outcome? {
        guard let reference else { return nil }
        do {
            return try Repetition(works: works, readsAllRows: readsAllRows()).perform(by: reference)
        } catch is WorkNotApplicable {
            return nil
        } catch let error as BenchmarkError {
            throw error
        } catch {
            throw BenchmarkError("the right answer to \(workload.id) could not be found: \(error)")
        }
    }

    private func readsAllRows() throws -> Bool {
        guard conduct.settings.verifiesAll, workload.field == .databases else { return false }
        if try works.prepare().contains(where: \.changesRows) { return true }
        return try workload.steps.indices.contains { try works.step($0).contains(where: \.changesRows) }
    }

    // MARK: Rounds

    /// One repetition of each, of which another is the first each time.
    private func round(_ turn: Int, number: Int?, _ agreement: Agreement, isLast: Bool) throws {
        let repetition = Repetition(works: works, readsAllRows: try isLast && readsAllRows())
        var outcomes: [(subject: String, outcome: Repetition.Outcome)] = []
        for offset in entries.indices {
            let place = (turn + offset) % entries.count
            defer { conduct.advance(by: rows) }
            guard entries[place].failure == nil else { continue }
            try conduct.confirm()
            let participant = entries[place].participant
            let name = participant.subject.name
            conduct.tell(.repetition(.init(workload: workload.id, rows: rows, subject: name, number: number)))
            do {
                outcomes.append((name, try repetition.perform(by: participant)))
            } catch {
                try note(error, of: participant)
            }
        }
        judge(outcomes, agreement)
        if number != nil { take(outcomes) }
    }

    private func judge(_ outcomes: [(subject: String, outcome: Repetition.Outcome)], _ agreement: Agreement) {
        for (subject, mistake) in agreement.mistakes(outcomes) {
            guard let place = entries.firstIndex(where: { $0.participant.subject.name == subject }) else { continue }
            entries[place].failure = .init(kind: .wrongAnswer, reason: mistake)
            // Nobody knows what is in it.
            if case .loaded(let table) = workload.start, let database = entries[place].participant.loaded[table] {
                entries[place].participant.discard(database)
            }
        }
    }

    private func take(_ outcomes: [(subject: String, outcome: Repetition.Outcome)]) {
        for (subject, outcome) in outcomes {
            guard let place = entries.firstIndex(where: { $0.participant.subject.name == subject }) else { continue }
            entries[place].samples.append(outcome.sample)
            entries[place].latencies.add(outcome.latencies)
        }
    }

    /// Notes an error, after which the others go on; but not when the disk is full, or the run is to end.
    private func note(_ error: any Error, of participant: Participant, _ prefix: String = "") throws {
        if error is CancellationError { throw error }
        let name = participant.subject.name
        guard !conduct.room.isFull(error, at: participant.folder.path) else {
            throw BenchmarkError(
                "the disk is full: \(name) could not write in \(participant.folder.path.debugDescription). \(error)")
        }
        guard participant !== reference else { throw BenchmarkError("the reference: \(prefix)\(error)") }
        guard let place = entries.firstIndex(where: { $0.participant === participant }) else { return }
        let kind: SubjectResult.Failure.Kind = error is WorkNotApplicable ? .notApplicable : .failed
        entries[place].failure = .init(kind: kind, reason: "\(prefix)\(error)")
    }
}

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
