#if Commands
internal import Histogram
internal import TidelineSupport

/// The iterations of one workload with one number of rows; used on the run's thread only.
final class WorkloadRun {
    /// The results of a subject.
    private struct Entry {
        let subject: Subject
        var samples: [Sample] = []
        var latencies = LatencySink.makeHistogram()
        var failure: SubjectResult.Failure?
    }

    private let workload: Workload
    private let rows: Int
    private let context: RunContext
    private let reference: Subject?
    private let works: WorkCache
    private var entries: [Entry]

    init(_ workload: Workload, rows: Int, subjects: [Subject], reference: Subject?, context: RunContext) {
        self.workload = workload
        self.rows = rows
        self.context = context
        self.reference = reference
        works = WorkCache(workload, rows: rows)
        entries = subjects.map { Entry(subject: $0) }
    }

    /// Performs all iterations. Results are reported after each round, so that all subjects have the same number.
    func run() throws {
        let settings = context.settings
        try load()
        let check = AnswerCheck(expected: try expected())
        for warmUp in 0..<settings.warmUp {
            try round(warmUp, number: nil, check, isLast: settings.repetitions == 0)
        }
        for index in 0..<settings.repetitions {
            try round(index, number: index + 1, check, isLast: index == settings.repetitions - 1)
            context.collector.put(result)
        }
        context.collector.put(result)
        context.report(.ended(result))
    }

    /// The result so far.
    private var result: WorkloadResult {
        WorkloadResult(
            id: workload.id, group: workload.group, title: workload.title, explanation: workload.explanation,
            unit: workload.unit, units: workload.units, rows: rows,
            subjects: entries.map { entry in
                // A subject that fails or gives a wrong answer has no figures, also not for its earlier iterations.
                let counts = entry.failure == nil
                return SubjectResult(
                    subject: entry.subject.name, samples: counts ? entry.samples : [],
                    latency: counts ? LatencySummary(entry.latencies) : nil, failure: entry.failure)
            })
    }

    // MARK: Preparation

    private func load() throws {
        guard case .loaded(let table) = workload.start else { return }
        let missing = (entries.map(\.subject) + [reference].compactMap(\.self)).filter { $0.loaded[table] == nil }
        guard !missing.isEmpty else { return }
        context.report(.loading(rows: rows))
        try Fixture(settings: context.settings, rows: rows, table: table).load(
            missing, checkCancellation: context.checkCancellation,
            failed: { subject, error in
                try record(error, of: subject, "the database could not be filled: ")
            })
    }

    /// The outcome of the reference, or `nil` if it does not perform the work.
    private func expected() throws -> Iteration.Outcome? {
        guard let reference else { return nil }
        do {
            return try Iteration(works: works, readsAllRows: readsAllRows()).perform(by: reference)
        } catch is WorkNotApplicable {
            return nil
        } catch let error as BenchmarkError {
            throw error
        } catch {
            throw BenchmarkError("the expected answer to \(workload.id) could not be computed: \(error)")
        }
    }

    private func readsAllRows() throws -> Bool {
        guard context.settings.verifiesAll, workload.field == .databases, workload.hasFixedRows else { return false }
        if try works.prepare().contains(where: \.changesRows) { return true }
        return try workload.steps.indices.contains { try works.step($0).contains(where: \.changesRows) }
    }

    // MARK: Rounds

    /// One iteration by each subject; each round starts with another subject.
    private func round(_ turn: Int, number: Int?, _ check: AnswerCheck, isLast: Bool) throws {
        let iteration = Iteration(works: works, readsAllRows: try isLast && readsAllRows())
        var outcomes: [String: Iteration.Outcome] = [:]
        for offset in entries.indices {
            let entry = entries[(turn + offset) % entries.count]
            defer { context.advance(by: rows) }
            guard entry.failure == nil else { continue }
            try context.checkCancellation()
            let name = entry.subject.name
            context.report(.iteration(workload: workload.id, subject: name, number: number))
            do {
                outcomes[name] = try iteration.perform(by: entry.subject)
            } catch {
                try record(error, of: entry.subject)
            }
        }
        let mistakes = check.mistakes(outcomes)
        for index in entries.indices {
            let subject = entries[index].subject
            if let mistake = mistakes[subject.name] {
                entries[index].failure = .init(kind: .wrongAnswer, reason: mistake)
                // The content of the database is unknown.
                if case .loaded(let table) = workload.start, let database = subject.loaded[table] {
                    subject.discard(database)
                }
            }
            if number != nil, let outcome = outcomes[subject.name] {
                entries[index].samples.append(outcome.sample)
                entries[index].latencies.add(outcome.latencies)
            }
        }
    }

    /// Records an error of a subject. Throws if the run must stop: it is cancelled, the disk is full, or the reference
    /// failed.
    private func record(_ error: any Error, of subject: Subject, _ prefix: String = "") throws {
        if error is CancellationError { throw error }
        let path = subject.folder.path
        guard !context.diskSpace.isFull(error, at: path) else {
            throw BenchmarkError(
                "the disk is full: \(subject.name) could not write in \(path.debugDescription). \(error)")
        }
        guard subject !== reference else { throw BenchmarkError("the reference failed: \(prefix)\(error)") }
        guard let position = entries.firstIndex(where: { $0.subject === subject }) else { return }
        let kind: SubjectResult.Failure.Kind = error is WorkNotApplicable ? .notApplicable : .failed
        entries[position].failure = .init(kind: kind, reason: "\(prefix)\(error)")
    }
}

/// Compares the answers of the subjects.
struct AnswerCheck {
    /// The correct outcome; `nil` if there is no reference.
    let expected: Iteration.Outcome?

    /// Returns the wrong answers of an iteration, each with a description, by subject.
    ///
    /// Without an expected outcome, the most frequent answer counts as correct. If no answer is the most frequent, all
    /// subjects whose answers differ are reported.
    func mistakes(_ outcomes: [String: Iteration.Outcome]) -> [String: String] {
        var mistakes: [String: String] = [:]
        for (part, value) in Self.parts(readCount: outcomes.values.map(\.allRows.count).max() ?? 0) {
            let right = expected.map(value) ?? Self.mostFrequent(outcomes.values.map(value))
            for (subject, outcome) in outcomes where mistakes[subject] == nil {
                guard let found = value(outcome), found != right else { continue }
                mistakes[subject] = Self.text(part, found, right)
            }
        }
        return mistakes
    }

    /// The parts of an outcome to compare: the answer, and the answers to reading all rows.
    private static func parts(readCount: Int) -> [(String, (Iteration.Outcome) -> Answer?)] {
        let names = ["all rows after the work", "all rows after restoration"]
        return [("the answer", { $0.answer })]
            + names.indices.prefix(readCount).map { position in
                (names[position], { $0.allRows.indices.contains(position) ? $0.allRows[position] : nil })
            }
    }

    private static func mostFrequent(_ answers: [Answer?]) -> Answer? {
        let counts = Dictionary(answers.compactMap { answer in answer.map { ($0, 1) } }, uniquingKeysWith: +)
        let winners = counts.filter { $0.value == counts.values.max() }
        return winners.count == 1 ? winners.keys.first : nil
    }

    private static func text(_ part: String, _ found: Answer, _ right: Answer?) -> String {
        "\(part): \(text(found))"
            + (right.map { ", expected \(text($0))" } ?? "; the subjects disagree and the correct answer is unknown")
    }

    private static func text(_ answer: Answer) -> String {
        "\(counted(answer.count, "row")) with checksum \(String(answer.checksum, radix: 16))"
    }
}
#endif
