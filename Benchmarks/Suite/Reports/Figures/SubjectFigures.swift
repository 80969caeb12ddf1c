/// What the repetitions of one subject in one workload come to.
public struct SubjectFigures: Sendable, Hashable {
    /// Who it is.
    public let subject: SubjectDescription
    /// What was measured.
    public let result: SubjectResult
    /// The time of one unit in seconds, over the repetitions; nil where there is no figure that counts.
    public let unitTime: Spread?
    /// How many times as fast as the bare engine it is: the baseline's time divided by the subject's, for each pair of
    /// repetitions that ran beside each other. Nil where the run has no baseline of the same engine and durability.
    public var ratio: Spread? { Spread(ratios) }
    /// The times of a unit, of each repetition.
    let unitTimes: [Double]
    /// What ``ratio`` is of.
    var ratios: [Double] = []
    /// Whether it is the fastest of those that keep as much as it does, or too close to the fastest to be told apart. False
    /// where there is nobody to compare it with.
    public internal(set) var isFastest = false

    /// How many units are done in a second.
    public var rate: Double? { unitTime.map { 1 / $0.median } }
}

extension SubjectFigures {
    init(_ result: SubjectResult, of subject: SubjectDescription, units: Int) {
        self.result = result
        self.subject = subject
        let counts = result.failure == nil && units > 0
        unitTimes = counts ? result.samples.map(\.seconds).filter { $0 > 0 }.map { $0 / Double(units) } : []
        unitTime = Spread(unitTimes)
    }

    /// How many times as fast as `other` this one is, in each pair of repetitions; empty where one of them has no figure.
    func speeds(beside other: SubjectFigures) -> [Double] {
        guard unitTime != nil, other.unitTime != nil else { return [] }
        return zip(result.samples, other.result.samples).filter { $0.seconds > 0 && $1.seconds > 0 }
            .map { $1.seconds / $0.seconds }
    }
}
