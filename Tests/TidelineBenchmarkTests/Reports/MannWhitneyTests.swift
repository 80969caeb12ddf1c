import Testing

@testable import TidelineBenchmark

/// The expected values are those of `scipy.stats.mannwhitneyu`, version 1.17, with the method that each test names.
@Suite("The test of Mann and Whitney")
struct MannWhitneyTests {
    /// `method="exact"`; the first are the groups of its documentation.
    @Test(
        "Small groups without ties are counted out",
        arguments: [
            ([19, 22, 16, 29, 24], [20, 11, 17, 12], 17, 0.1111111111111111),
            (
                [1.01, 1.04, 0.99, 1.07, 1.02, 1.05, 0.98, 1.03, 1.08],
                [1.06, 1.10, 1.00, 1.12, 1.09, 1.11, 1.14, 1.13, 1.15], 9, 0.0039901275195392836
            ),
            (
                (1...9).map { Double($0) }, (10...18).map { Double($0) }, 0, 4.113533525298231e-05
            ),
            ((0..<12).map { Double($0) * 3 }, (0..<15).map { Double($0) * 2 + 6.5 }, 70, 0.34728535549642026),
        ] as [([Double], [Double], Double, Double)])
    func counted(a: [Double], b: [Double], statistic: Double, probability: Double) {
        let test = MannWhitney(a, b)
        #expect(test.statistic == statistic)
        #expect(abs(test.probability - probability) < 1e-12)
        #expect(MannWhitney(b, a).probability == test.probability)
    }

    /// `method="asymptotic"`.
    @Test(
        "Ties, and larger groups, go by the normal distribution",
        arguments: [
            ([1, 2, 2, 3, 4, 4, 5, 6, 7], [2, 3, 5, 6, 7, 8, 8, 9, 10], 17, 0.04120005708253905),
            (
                stride(from: 1.0, through: 49, by: 2).map { $0 }, stride(from: 9.5, through: 57.5, by: 2).map { $0 },
                210, 0.0478057953309806
            ),
        ] as [([Double], [Double], Double, Double)])
    func approximated(a: [Double], b: [Double], statistic: Double, probability: Double) {
        let test = MannWhitney(a, b)
        #expect(test.statistic == statistic)
        #expect(abs(test.probability - probability) < 1e-12)
    }

    @Test("Equal groups differ by chance")
    func equal() {
        #expect(MannWhitney([1, 1, 1], [1, 1, 1]).probability == 1)
        #expect(MannWhitney([1, 4], [2, 3]).probability == 1)
    }

    @Test("The least probability is that of groups that do not overlap")
    func least() {
        #expect(abs(MannWhitney.leastProbability(9, 9) - 4.113533525298231e-05) < 1e-15)
        #expect(MannWhitney.leastProbability(40, 40) < 1e-10)
    }
}
