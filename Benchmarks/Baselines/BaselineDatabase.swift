internal import CBaselines
internal import Synchronization
internal import TidelineStore

/// An open database of an engine.
///
/// `@unchecked Sendable`: readers are lent to one thread at a time, the writer belongs to the one thread that writes, as the
/// benchmark has one.
final class BaselineDatabase: @unchecked Sendable {
    let engine: UnsafePointer<baseline_engine>
    private let table: BaselineTable
    private let handle: OpaquePointer
    private let writer = FailureText()
    private let readers = Mutex(Readers())

    /// What reads on one thread.
    struct Reader: @unchecked Sendable {
        let handle: OpaquePointer
        let failure: FailureText
    }

    private struct Readers {
        var idle: [Reader] = []
        var lent = 0
    }

    init(
        _ engine: BaselineEngine, in folder: String, table: BaselineTable, durability: StoreCapabilities.Durability
    ) throws {
        self.engine = engine.pointer
        self.table = table
        var opened: OpaquePointer?
        do throws(BaselineError) {
            let mode = BaselineEngine.mode(durability)
            try writer.check(engine.pointer.pointee.open(folder, table.pointer, mode, &opened, writer.pointer))
            guard let opened else { throw BaselineError("\(engine.name) opened nothing") }
            handle = opened
        } catch {
            writer.deallocate()
            throw error
        }
    }

    /// Closes it, with all readers; nothing may be done with it afterwards.
    func close() throws {
        let idle = try readers.withLock { readers throws(BaselineError) in
            guard readers.lent == 0 else { throw BaselineError("the database is closed while it is read") }
            defer { readers.idle = [] }
            return readers.idle
        }
        for reader in idle {
            engine.pointee.destroy_reader(reader.handle)
            reader.failure.deallocate()
        }
        defer { writer.deallocate() }
        try writer.check(engine.pointee.close(handle, writer.pointer))
    }

    // MARK: Reading

    /// Lends a reader, with no snapshot open.
    func withReader<T>(_ body: (Reader) throws -> T) throws -> T {
        let reader = try takeReader()
        defer {
            readers.withLock {
                $0.idle.append(reader)
                $0.lent -= 1
            }
        }
        return try body(reader)
    }

    private func takeReader() throws(BaselineError) -> Reader {
        let idle = readers.withLock { readers in
            readers.lent += 1
            return readers.idle.popLast()
        }
        if let idle { return idle }
        let failure = FailureText()
        var made: OpaquePointer?
        do throws(BaselineError) {
            try failure.check(engine.pointee.make_reader(handle, &made, failure.pointer))
            guard let made else { throw BaselineError("no reader was made") }
            return Reader(handle: made, failure: failure)
        } catch {
            failure.deallocate()
            readers.withLock { $0.lent -= 1 }
            throw error
        }
    }

    /// Lends a reader within a snapshot, which is of one call only when `isSingle`.
    func read<T>(isSingle: Bool, _ body: (Reader) throws -> T) throws -> T {
        try withReader { reader in
            let failure = reader.failure
            try failure.check(engine.pointee.begin_reading(reader.handle, isSingle, failure.pointer))
            let result: T
            do {
                result = try body(reader)
            } catch {
                // The first error is the one to tell.
                _ = engine.pointee.end_reading(reader.handle, isSingle, failure.pointer)
                throw error
            }
            try failure.check(engine.pointee.end_reading(reader.handle, isSingle, failure.pointer))
            return result
        }
    }

    // MARK: Writing

    /// Runs `body` within a transaction.
    @inline(__always)
    func write(_ body: (_ database: OpaquePointer, _ failure: FailureText) throws -> Void) throws {
        try writer.check(engine.pointee.begin(handle, writer.pointer))
        do {
            try body(handle, writer)
            try writer.check(engine.pointee.commit(handle, writer.pointer))
        } catch {
            engine.pointee.roll_back(handle)
            throw error
        }
    }

    /// How far the pulls came.
    func token() throws -> Int64 {
        var ticks: Int64 = 0
        try writer.check(engine.pointee.get_token(handle, &ticks, writer.pointer))
        return ticks
    }
}
