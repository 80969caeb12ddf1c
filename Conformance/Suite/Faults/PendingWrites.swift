/// Which of the writes in a log are not on the disk for certain.
struct PendingWrites {
    /// How many entries there are up to the last sync: names and sizes before are on the disk.
    private(set) var journaled = 0
    /// The pending writes, in order.
    private(set) var writes: [Int] = []
    /// The last pending write of each sector.
    private(set) var last: [Sector: Int] = [:]
    private var touched: [Int: [Sector]] = [:]
    /// The last write of each sector that was waited for; it took along what was in the sector before.
    private var settled: [Sector: Int] = [:]

    init(_ entries: ArraySlice<FileLog.Entry>) {
        var synced: [Int: Int] = [:]
        for (index, entry) in entries.enumerated() {
            if entry.change.isSync { journaled = index + 1 }
            if case .sync(let file) = entry.change { synced[file] = index }
        }
        for (index, entry) in entries.enumerated() {
            guard case .write(let file, let offset, let bytes, let isSynced) = entry.change,
                index > synced[file] ?? -1
            else { continue }
            add(Sector.all(of: file, from: offset, count: bytes.count), index, isSynced)
        }
        for (sector, index) in settled where last[sector] ?? index < index { last[sector] = nil }
    }

    private mutating func add(_ sectors: [Sector], _ index: Int, _ isSynced: Bool) {
        if isSynced {
            for sector in sectors { settled[sector] = index }
            return
        }
        writes.append(index)
        touched[index] = sectors
        for sector in sectors { last[sector] = index }
    }

    /// The sectors that a pending write touches; nil for a write that is on the disk.
    func sectors(of index: Int) -> [Sector]? { touched[index] }

    /// Whether a sector has what a write put there for certain, or something later.
    func isSettled(_ sector: Sector, since index: Int) -> Bool { settled[sector].map { $0 > index } ?? false }
}

/// A sector of a file: what a disk writes whole or not at all.
struct Sector: Hashable, Sendable {
    static let size = 512

    let file: Int
    let index: Int

    /// The sectors of so many bytes.
    static func all(of file: Int, from offset: Int, count: Int) -> [Sector] {
        (offset / size..<(offset + count + size - 1) / size).map { Sector(file: file, index: $0) }
    }

    /// Which bytes of a write at `offset` it has.
    func range(_ offset: Int, _ count: Int) -> Range<Int> {
        max(0, index * Sector.size - offset)..<min(count, (index + 1) * Sector.size - offset)
    }
}
