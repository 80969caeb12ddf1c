#if Commands
import Testing

@testable import TidelineBenchmark

@Suite("The median and the spread of measurements")
struct SpreadTests {
    @Test("The median is between two neighbors if their number is even")
    func median() {
        #expect(Spread([7, 1, 3, 10])?.median == 5)
        #expect(Spread([3, 1, 2])?.median == 2)
        #expect(Spread([]) == nil)
    }

    @Test("The margin of error is the longer side of the interval")
    func reach() throws {
        #expect(try #require(Spread([1, 2, 3, 4, 9])).reach == 6)
    }

    @Test("A single measurement has no margin of error")
    func single() throws {
        let spread = try #require(Spread([4]))
        #expect(spread.median == 4 && spread.interval == 4...4 && spread.reach == nil)
    }

    @Test(
        "The interval of the median excludes as many values as the sign test allows at 95 %",
        // The number of excluded values on each side: the 2.5 % quantile of the binomial distribution with p = ½, minus
        // one.
        arguments: [(2, 0), (5, 0), (6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3), (20, 5), (30, 9), (2000, 956)])
    func interval(count: Int, left: Int) throws {
        let spread = try #require(Spread((0..<count).map(Double.init)))
        #expect(spread.interval == Double(left)...Double(count - 1 - left))
    }
}

/// The expected values are from `scipy.stats.mannwhitneyu`, version 1.17, with the method named at each test.
@Suite("The Mann-Whitney test")
struct MannWhitneyTests {
    private typealias Groups = (a: [Double], b: [Double], statistic: Double, probability: Double)

    /// `method="exact"`; the first groups are from its documentation.
    private static let smallWithoutTies: [Groups] = [
        ([19, 22, 16, 29, 24], [20, 11, 17, 12], 17, 0.1111111111111111),
        (
            [1.01, 1.04, 0.99, 1.07, 1.02, 1.05, 0.98, 1.03, 1.08],
            [1.06, 1.10, 1.00, 1.12, 1.09, 1.11, 1.14, 1.13, 1.15], 9, 0.0039901275195392836
        ),
        ((1...9).map { Double($0) }, (10...18).map { Double($0) }, 0, 4.113533525298231e-05),
        ((0..<12).map { Double($0) * 3 }, (0..<15).map { Double($0) * 2 + 6.5 }, 70, 0.34728535549642026),
    ]

    /// `method="asymptotic"`.
    private static let large: [Groups] = [
        ([1, 2, 2, 3, 4, 4, 5, 6, 7], [2, 3, 5, 6, 7, 8, 8, 9, 10], 17, 0.04120005708253905),
        (
            stride(from: 1.0, through: 49, by: 2).map { $0 }, stride(from: 9.5, through: 57.5, by: 2).map { $0 },
            210, 0.0478057953309806
        ),
    ]

    @Test(
        "Small groups without ties use the exact distribution; ties and larger groups use the normal distribution",
        arguments: smallWithoutTies + large)
    func probabilities(a: [Double], b: [Double], statistic: Double, probability: Double) {
        let test = MannWhitney(a, b)
        #expect(test.statistic == statistic)
        #expect(abs(test.probability - probability) < 1e-12)
        #expect(MannWhitney(b, a).probability == test.probability)
    }

    @Test("Equal groups have probability 1")
    func equal() {
        #expect(MannWhitney([1, 1, 1], [1, 1, 1]).probability == 1)
        #expect(MannWhitney([1, 4], [2, 3]).probability == 1)
    }

    @Test("The smallest probability is that of groups that do not overlap")
    func least() {
        #expect(abs(MannWhitney.leastProbability(9, 9) - 4.113533525298231e-05) < 1e-15)
        #expect(MannWhitney.leastProbability(40, 40) < 1e-10)
    }
}
#endif
