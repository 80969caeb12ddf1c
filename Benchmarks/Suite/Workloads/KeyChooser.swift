internal import Foundation
internal import TidelineSupport

/// Chooses rows by chance as YCSB does.
struct KeyChooser {
    /// How likely each row is.
    enum Choice: Sendable {
        /// All as likely.
        case uniform
        /// Few much likelier than the others, scattered over all.
        case zipfian
        /// The later a row was inserted, the likelier.
        case latest
    }

    private let choice: Choice
    private var zipfian: Zipfian

    init(_ choice: Choice) {
        self.choice = choice
        zipfian = choice == .zipfian ? .ofManyItems : Zipfian()
    }

    /// A row of so many.
    mutating func next(of count: Int, using random: inout SplitMix64) -> Int {
        switch choice {
        case .uniform: Int.random(in: 0..<count, using: &random)
        case .zipfian: Self.scattered(zipfian.next(of: Zipfian.manyItems, using: &random), over: count)
        case .latest: count - 1 - zipfian.next(of: count, using: &random)
        }
    }

    /// The place of an item among so many rows, by the 64-bit FNV hash of its number.
    private static func scattered(_ item: Int, over count: Int) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in 0..<8 {
            hash = (hash ^ UInt64(item) >> UInt64(byte * 8) & 0xFF) &* 0x100_0000_01B3
        }
        return Int(hash % UInt64(count))
    }
}

/// Numbers from 0 of which the first are the likeliest: the *n*th by 1/*n*^0.99.
///
/// After Gray et al., *Quickly Generating Billion-Record Synthetic Databases*, 1994, as YCSB has it.
struct Zipfian {
    private static let theta = 0.99
    private static let alpha = 1 / (1 - theta)

    /// The sum of 1/*n*^0.99 over the first so many numbers.
    private var zeta = 0.0
    private var summed = 0

    init() {}

    /// So many items that each row of any table stands for several, and the sum for them, which takes minutes to make; both
    /// are YCSB's.
    static let manyItems = 10_000_000_000
    static let ofManyItems: Zipfian = {
        var zipfian = Zipfian()
        zipfian.zeta = 26.469_028_201_783_02
        zipfian.summed = manyItems
        return zipfian
    }()

    /// A number below `count`, which may only grow from call to call.
    mutating func next(of count: Int, using random: inout SplitMix64) -> Int {
        while summed < count {
            summed += 1
            zeta += 1 / pow(Double(summed), Self.theta)
        }
        let chance = Double.random(in: 0..<1, using: &random)
        let scaled = chance * zeta
        let firstTwo = 1 + pow(0.5, Self.theta)
        if scaled < 1 || count < 2 { return 0 }
        if scaled < firstTwo || count < 3 { return 1 }
        let eta = (1 - pow(2 / Double(count), 1 - Self.theta)) / (1 - firstTwo / zeta)
        return min(Int(Double(count) * pow(eta * chance - eta + 1, Self.alpha)), count - 1)
    }
}
