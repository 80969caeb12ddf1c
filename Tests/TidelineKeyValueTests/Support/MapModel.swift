import TidelineKeyValue
import TidelineStore
import TidelineSupport
import TidelineTestStores

/// A simple reference implementation of an ordered map, against which fast ones are tested.
struct MapModel {
    private(set) var entries: [KeyValueEntry] = []

    subscript(key: [UInt8]) -> [UInt8]? {
        get {
            let index = index(of: key)
            return index < entries.count && entries[index].key == key ? entries[index].value : nil
        }
        set {
            _ = remove(key)
            if let newValue { entries.insert(KeyValueEntry(key: key, value: newValue), at: index(of: key)) }
        }
    }

    mutating func remove(_ key: [UInt8]) -> [UInt8]? {
        let index = index(of: key)
        guard index < entries.count, entries[index].key == key else { return nil }
        return entries.remove(at: index).value
    }

    func entries(in range: KeyRange, descending: Bool) -> [KeyValueEntry] {
        let lower = index(of: range.lower)
        let found = entries[lower..<max(lower, index(of: range.upper))]
        return descending ? found.reversed() : Array(found)
    }

    func randomKey(_ random: inout SplitMix64) -> [UInt8]? { entries.randomElement(using: &random)?.key }

    /// Returns the number of keys that are less than the given one.
    private func index(of key: [UInt8]) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
