/// One repetition of a workload by one subject: preparing, the steps that are timed, restoring.
struct Repetition {
    let works: WorkSet
    /// Whether all rows are read after the steps, and after restoring.
    let readsAllRows: Bool

    /// What came of it.
    struct Outcome {
        var sample: Sample
        var answer: Answer
        var latencies: LatencyHistogram
        /// What all rows came to, whenever they were read.
        var allRows: [Answer] = []
    }

    /// Does it on the database that the workload begins with.
    func perform(by participant: Participant) throws -> Outcome {
        switch works.workload.start {
        case .loaded(let table):
            guard let database = participant.loaded[table] else { throw BenchmarkError("there is no loaded database") }
            return try perform(on: database, of: participant)
        case .empty(let table):
            let database = try participant.makeDatabase(table)
            let outcome = try perform(on: database, of: participant)
            try participant.remove(database)
            return outcome
        }
    }

    private func perform(on database: Participant.Database, of participant: Participant) throws -> Outcome {
        var isTouched = false
        do {
            return try perform(on: database, &isTouched)
        } catch {
            var isEmpty = false
            if case .empty = works.workload.start { isEmpty = true }
            // Only a database on which nothing was done is what it was.
            if isEmpty || isTouched || !(error is WorkNotApplicable) { participant.discard(database) }
            throw error
        }
    }

    private func perform(on database: Participant.Database, _ isTouched: inout Bool) throws -> Outcome {
        let session = database.session
        for work in try works.prepare() {
            _ = try session.perform(work, noting: LatencySink())
            isTouched = true
        }
        // What was written before is not written back meanwhile, at the cost of who is measured now.
        FileSystem.flush(database.directory)
        var (meter, step) = (Meter(), Step.Outcome())
        for index in works.workload.steps.indices {
            try Step.perform(try works.step(index), on: session, &meter, &step)
            isTouched = true
        }
        var outcome = Outcome(
            sample: Sample(meter, fileSize: FileSize.bytes(inFolder: database.directory)), answer: step.answer,
            latencies: step.latencies)
        if readsAllRows { outcome.allRows.append(try Self.allRows(session)) }
        for work in try works.restore() { _ = try session.perform(work, noting: LatencySink()) }
        if readsAllRows { outcome.allRows.append(try Self.allRows(session)) }
        return outcome
    }

    private static func allRows(_ session: any BenchmarkSession) throws -> Answer {
        try session.perform(.scan(.view), noting: LatencySink())
    }
}

extension Sample {
    /// What was measured.
    fileprivate init(_ meter: Meter, fileSize: Int) {
        self.init(
            seconds: meter.seconds, cpuSeconds: meter.cpuSeconds, peakMemory: meter.peakMemory,
            bytesWritten: meter.bytesWritten, fileSize: fileSize)
    }
}
