#if Commands
import Testing

@testable import TidelineBenchmark

@Suite("The format of figures")
struct FigureFormatTests {
    @Test("Times, rates, and numbers of bytes have a suitable unit and three digits")
    func units() {
        let times = [3e-10, 42e-9, 1.4149e-6, 999.9e-6, 0.9996e-3, 0.0123, 1, 4321]
        #expect(
            times.map(FigureFormat.time) == [
                "0.300 ns", "42.0 ns", "1.41 µs", "1.00 ms", "1.00 ms", "12.3 ms", "1.00 s", "4,321 s",
            ])
        #expect(
            [0.5, 42, 9_990, 12_345, 999_700, 3_412_000].map(FigureFormat.rate) == [
                "0.500", "42.0", "9,990", "12.3k", "1.00M", "3.41M",
            ])
        #expect(
            [0, 999, 1000, 999_600, 1_500_000, 12_345_000_000].map(FigureFormat.bytes) == [
                "0 B", "999 B", "1.00 kB", "1.00 MB", "1.50 MB", "12.3 GB",
            ])
    }

    @Test("Numbers have commas between thousands")
    func counts() {
        #expect(
            [0, 7, 999, 1000, 12345, 1_234_567].map(FigureFormat.count) == [
                "0", "7", "999", "1,000", "12,345", "1,234,567",
            ])
        #expect(FigureFormat.count(-1000) == "-1,000")
        #expect(FigureFormat.count(.min) == "-9,223,372,036,854,775,808")
    }

    @Test("A ratio has two decimals or more, and its margin of error as many")
    func ratios() throws {
        for (values, text) in [
            ([0.94, 0.97, 0.99], "0.97 ±0.03 ×C"), ([0.029, 0.03, 0.031], "0.030 ±0.001 ×C"),
            ([12.0, 12.4], "12.2 ±0.2 ×C"), ([1], "1.00 ×C"), ([0.62, 0.9, 1.19], "0.90 ±0.29 ×C"),
            ([0.59, 0.9, 1.2], "×C unclear"),
        ] as [([Double], String)] {
            let spread = try #require(Spread(values))
            #expect(FigureFormat.speed(spread) == text)
        }
    }

    @Test("The unit for several times fits their median")
    func commonUnit() {
        #expect(TimeUnit.fitting(all: [200e-9, 5e-3, 6e-3, 4e-3]) == .milliseconds)
        #expect(TimeUnit.fitting(all: [1e-6, 1]) == .microseconds)
        #expect(TimeUnit.fitting(all: []) == .microseconds)
    }
}
#endif
