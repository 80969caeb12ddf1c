#if Commands
import Foundation
import TidelineKeyValue
import TidelineMemory
import TidelineStore

/// The behavior of a store when rows are deleted by their ids, or earlier.
enum Mischief: String, CaseIterable {
    /// Correct behavior.
    case none
    /// It counts one row too many.
    case miscounts
    /// It traps.
    case traps
    /// It ends the process.
    case exits
    /// It does not return.
    case hangs
    /// It already traps when it is opened.
    case trapsOnOpening = "traps-on-opening"
    /// It prints, and otherwise behaves correctly.
    case prints
}

/// An in-memory store that misbehaves.
struct MischievousStore: StoreLayer {
    typealias Reader = MemoryStore.Reader
    typealias Writer = MischievousWriter

    let base: MemoryStore
    let mischief: Mischief

    init(_ mischief: Mischief) throws {
        if mischief == .trapsOnOpening { fatalError("nothing opens") }
        base = try MemoryStore()
        self.mischief = mischief
    }

    func redefine(_ body: (MischievousWriter) throws -> [TableSchema]) throws {
        try base.redefine { try body(MischievousWriter(base: $0, mischief: mischief)) }
    }

    func write<T>(_ body: (MischievousWriter) throws -> T) throws -> T {
        try base.write { try body(MischievousWriter(base: $0, mischief: mischief)) }
    }
}

/// The writer of a store that misbehaves.
struct MischievousWriter: WriterLayer {
    let base: MemoryStore.Writer
    let mischief: Mischief

    func delete(ids: [RowID], from table: String) throws -> Int {
        switch mischief {
        case .traps: fatalError("the index has no such row")
        case .exits: exit(3)
        case .hangs: while true { sleep(1000) }
        case .miscounts: return try base.delete(ids: ids, from: table) + 1
        case .prints: print("{\"ended\":{\"_0\":{\"id\":\"GET-001\",\"status\":\"failed\",\"seconds\":0}}}")
        case .none, .trapsOnOpening: break
        }
        return try base.delete(ids: ids, from: table)
    }
}
#endif
