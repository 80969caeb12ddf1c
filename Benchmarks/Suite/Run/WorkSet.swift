/// What a workload does, made once and done by every subject in every repetition; it belongs to the run's thread.
///
/// Only where that is too much to keep is it made each time.
final class WorkSet {
    /// Up to how many rows the work of a workload is kept.
    private static let mostRows = 1_000_000

    private enum Part: Hashable {
        case prepare
        case step(Int)
        case restore
    }

    let workload: Workload
    private let keeps: Bool
    private var made: [Part: [Work]] = [:]

    init(_ workload: Workload, rows: Int) {
        self.workload = workload
        keeps = rows <= Self.mostRows
    }

    func prepare() throws -> [Work] { try works(.prepare, workload.prepare) }
    func step(_ index: Int) throws -> [Work] { try works(.step(index), workload.steps[index]) }
    func restore() throws -> [Work] { try works(.restore, workload.restore) }

    private func works(_ part: Part, _ make: Workload.WorkMaker) throws -> [Work] {
        if let works = made[part] { return works }
        let works = try make()
        if keeps { made[part] = works }
        return works
    }
}
