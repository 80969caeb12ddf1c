internal import TidelineStore

/// Fills new databases with all rows of a run, which are made only once for all of them.
struct Loading {
    let settings: BenchmarkSettings
    let rows: Int
    let table: BenchmarkTable

    /// How many rows are made at a time, and how many a transaction takes.
    private static let (part, batch) = (50_000, 10_000)

    /// Fills a database for each participant.
    /// - Parameters:
    ///   - confirm: Is asked again and again whether to go on, and throws if not.
    ///   - failed: Takes those that cannot be filled.
    func load(
        _ participants: [Participant], confirm: () throws -> Void, failed: (Participant, any Error) throws -> Void
    ) throws {
        var filling: [(participant: Participant, database: Participant.Database)] = []
        do {
            for participant in participants {
                do { filling.append((participant, try participant.makeDatabase(table))) } catch {
                    try failed(participant, error)
                }
            }
            try fill(&filling, confirm, failed)
            while let (participant, database) = filling.popLast() {
                do { try participant.keep(database) } catch { try failed(participant, error) }
            }
        } catch {
            for (participant, database) in filling { participant.discard(database) }
            throw error
        }
    }

    private func fill(
        _ filling: inout [(participant: Participant, database: Participant.Database)], _ confirm: () throws -> Void,
        _ failed: (Participant, any Error) throws -> Void
    ) throws {
        let source = settings.source(rows: rows, isIndexed: table.isIndexed)
        for start in stride(from: 0, to: rows, by: Self.part) {
            let range = start..<min(start + Self.part, rows)
            let batches = try source.batches(range, of: Self.batch)
            for (participant, database) in filling {
                try confirm()
                do {
                    let answer = try database.session.perform(.upsert(batches), noting: LatencySink())
                    guard answer.count == range.count else {
                        throw BenchmarkError("of \(range.count) rows \(answer.count) were stored")
                    }
                } catch {
                    filling.removeAll { $0.participant === participant }
                    participant.discard(database)
                    try failed(participant, error)
                }
            }
        }
    }
}
