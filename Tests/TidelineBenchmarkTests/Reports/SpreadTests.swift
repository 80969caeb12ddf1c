import Testing

@testable import TidelineBenchmark

@Suite("The middle of measurements and how far they lie apart")
struct SpreadTests {
    @Test("Median and quartiles, interpolated between neighbours")
    func quartiles() throws {
        // As numpy.quantile gives them.
        let spread = try #require(Spread([7, 1, 3, 10]))
        #expect(spread.median == 5)
        #expect(spread.lowerQuartile == 2.5)
        #expect(spread.upperQuartile == 7.75)
        #expect(spread.least == 1)
        #expect(spread.greatest == 10)
        #expect(Spread([3, 1, 2])?.median == 2)
        #expect(Spread([]) == nil)
    }

    @Test("A single measurement says nothing of how far it may be off")
    func single() throws {
        let spread = try #require(Spread([4]))
        #expect(spread.median == 4)
        #expect(spread.interval == 4...4)
        #expect(spread.reach == nil)
    }

    @Test(
        "The interval of the median leaves out as many as the sign test allows at 95 %",
        // How many are left out on each side: the quantiles of the binomial distribution with p = ½ at 2.5 %, less one.
        arguments: [(2, 0), (5, 0), (6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3), (20, 5), (30, 9), (2000, 956)])
    func interval(count: Int, left: Int) throws {
        let spread = try #require(Spread((0..<count).map(Double.init)))
        #expect(spread.interval == Double(left)...Double(count - 1 - left))
    }

    @Test("How far the median may be off is the longer side of the interval")
    func reach() throws {
        #expect(try #require(Spread([1, 2, 3, 4, 9])).reach == 6)
    }
}
