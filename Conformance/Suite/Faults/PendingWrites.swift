/// The writes in a log that are not guaranteed to be on the disk.
struct PendingWrites {
    /// The number of entries up to the last sync. Earlier changes of names and sizes are on the disk.
    private(set) var journaled = 0
    /// The pending writes, in order.
    private(set) var writes: [Int] = []
    /// The last pending write of each sector.
    private(set) var last: [Sector: Int] = [:]
    private var touched: [Int: [Sector]] = [:]
    /// The last synced write of each sector, which also made the sector's earlier content durable.
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

    /// Returns the sectors of a pending write, or `nil` for a write that is on the disk.
    func sectors(of index: Int) -> [Sector]? { touched[index] }

    /// Returns whether a sector is guaranteed to contain the data of a write or of a later one.
    func isSettled(_ sector: Sector, since index: Int) -> Bool { settled[sector].map { $0 > index } ?? false }
}

/// A sector of a file: the unit that a disk writes completely or not at all.
struct Sector: Hashable, Sendable {
    static let size = 512

    let file: Int
    let index: Int

    /// Returns the sectors of a range of bytes.
    static func all(of file: Int, from offset: Int, count: Int) -> [Sector] {
        (offset / size..<(offset + count + size - 1) / size).map { Sector(file: file, index: $0) }
    }

    /// Returns the range of bytes, within a write at `offset`, that falls into this sector.
    func range(_ offset: Int, _ count: Int) -> Range<Int> {
        max(0, index * Sector.size - offset)..<min(count, (index + 1) * Sector.size - offset)
    }
}
