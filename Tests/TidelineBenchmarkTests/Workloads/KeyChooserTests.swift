#if Commands
import Testing
import TidelineSupport

@testable import TidelineBenchmark

@Suite("Random rows")
struct KeyChooserTests {
    /// The number of times that each row is chosen, of 20,000.
    private func counts(_ choice: KeyChooser.Choice, of rows: Int) -> [Int] {
        var chooser = KeyChooser(choice)
        var random = SplitMix64(seed: 11)
        return (0..<20_000).reduce(into: Array(repeating: 0, count: rows)) { counts, _ in
            counts[chooser.next(of: rows, using: &random)] += 1
        }
    }

    @Test("The probability of the nth number is proportional to 1/n^0.99")
    func zipfianHasItsShape() {
        var (zipfian, random) = (Zipfian(), SplitMix64(seed: 5))
        var counts = Array(repeating: 0.0, count: 100)
        for _ in 0..<50_000 { counts[zipfian.next(of: 100, using: &random)] += 1 / 50_000 }
        // The sum of 1/n^0.99 over a hundred numbers is 5.32; the first two are exact, the others approximated.
        #expect(abs(counts[0] - 0.188) < 0.01)
        #expect(abs(counts[1] - 0.0947) < 0.01)
        #expect(abs(counts[2..<10].reduce(0, +) - 0.269) < 0.03)
        #expect(counts[99] > 0)
    }

    @Test("The most frequent rows are few and scattered")
    func zipfianIsScattered() {
        let counts = counts(.zipfian, of: 1000)
        let hot = counts.indices.sorted { counts[$0] > counts[$1] }.prefix(100)
        // The first hundred items have a fifth of the probability, and their rows get a tenth of the rest.
        #expect(abs(hot.reduce(0) { $0 + counts[$1] } - 5_700) < 400)
        #expect(hot.count { $0 < 500 } > 30 && hot.count { $0 >= 500 } > 30)
        #expect(counts.count { $0 > 0 } > 900)
    }

    @Test("The latest rows are the most frequent")
    func latestComeFirst() {
        let counts = counts(.latest, of: 1000)
        #expect(counts[999] > counts[998] && counts[998] > counts[900])
        #expect(counts[900...].reduce(0, +) > 10_000)
    }

    @Test("The uniform distribution is even")
    func uniformIsEven() {
        let counts = counts(.uniform, of: 10)
        #expect(counts.allSatisfy { abs($0 - 2000) < 200 })
    }

    @Test("Every distribution chooses existing rows", arguments: [KeyChooser.Choice.uniform, .zipfian, .latest])
    func choicesStayInBounds(choice: KeyChooser.Choice) {
        var (chooser, random) = (KeyChooser(choice), SplitMix64(seed: 3))
        for rows in [1, 2, 3, 10, 100_000] {
            for _ in 0..<500 { #expect((0..<rows).contains(chooser.next(of: rows, using: &random))) }
        }
    }
}

@Suite("The plan of a mix")
struct MixPlanTests {
    private func plan(_ shares: [(MixPlan.Kind, Int)], _ choice: KeyChooser.Choice) -> [MixPlan.Step] {
        var random = SplitMix64(seed: 9)
        return MixPlan(shares: shares.map { (kind: $0, percent: $1) }, choice: choice, count: 5000)
            .steps(rows: 1000, random: &random)
    }

    @Test("Operations have their shares, and inserted rows are consecutive")
    func sharesHold() {
        let steps = plan([(.read, 95), (.insert, 5)], .latest)
        let inserted = steps.compactMap(\.inserted)
        #expect(abs(inserted.count - 250) < 60)
        #expect(inserted == Array(1000..<1000 + inserted.count))
    }

    @Test("Inserted rows are read, but not before they exist")
    func latestAreRead() {
        var present = 1000
        var readsOfNew = 0
        for step in plan([(.read, 95), (.insert, 5)], .latest) {
            if case .read(let row) = step {
                #expect(row < present)
                if row >= 1000 { readsOfNew += 1 }
            } else {
                present += 1
            }
        }
        #expect(readsOfNew > 1000)
    }

    @Test("Scans read one to a hundred rows")
    func scansAreShort() {
        let counts = plan([(.scan, 95), (.insert, 5)], .zipfian).compactMap { step in
            if case .scan(_, let count) = step { count } else { nil }
        }
        #expect(counts.allSatisfy { (1...100).contains($0) })
        #expect(counts.contains(1) && counts.contains(100))
    }

    @Test("The same seed gives the same plan")
    func plansRepeat() {
        #expect(plan([(.read, 50), (.update, 50)], .zipfian) == plan([(.read, 50), (.update, 50)], .zipfian))
    }
}
#endif
