#if Commands
internal import CBaselines
internal import Synchronization
internal import TidelineStore

/// An open database of an engine.
///
/// `@unchecked Sendable`: a reader is used on one thread at a time, and the benchmark has only one writing thread.
final class BaselineDatabase: @unchecked Sendable {
    let engine: UnsafePointer<baseline_engine>
    private let table: BaselineTable
    private let handle: OpaquePointer
    private let writer = ErrorBuffer()
    private let readers = Mutex(Readers())

    /// A handle that reads on one thread.
    struct Reader: @unchecked Sendable {
        let handle: OpaquePointer
        let failure: ErrorBuffer
    }

    private struct Readers {
        var idle: [Reader] = []
        var inUse = 0
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
            guard let opened else { throw BaselineError("\(engine.name) returned no database") }
            handle = opened
        } catch {
            writer.deallocate()
            throw error
        }
    }

    /// Closes the database and all readers. No other call may follow.
    func close() throws {
        let idle = try readers.withLock { readers throws(BaselineError) in
            guard readers.inUse == 0 else { throw BaselineError("the database is still in use by a reader") }
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

    /// Calls `body` with a reader without a snapshot.
    func withReader<T>(_ body: (Reader) throws -> T) throws -> T {
        let reader = try checkOutReader()
        defer {
            readers.withLock {
                $0.idle.append(reader)
                $0.inUse -= 1
            }
        }
        return try body(reader)
    }

    private func checkOutReader() throws(BaselineError) -> Reader {
        let idle = readers.withLock { readers in
            readers.inUse += 1
            return readers.idle.popLast()
        }
        if let idle { return idle }
        let failure = ErrorBuffer()
        var created: OpaquePointer?
        do throws(BaselineError) {
            try failure.check(engine.pointee.make_reader(handle, &created, failure.pointer))
            guard let created else { throw BaselineError("the engine returned no reader") }
            return Reader(handle: created, failure: failure)
        } catch {
            failure.deallocate()
            readers.withLock { $0.inUse -= 1 }
            throw error
        }
    }

    /// Calls `body` with a reader in a snapshot. With `isSingle`, `body` makes a single call.
    func read<T>(isSingle: Bool, _ body: (Reader) throws -> T) throws -> T {
        try withReader { reader in
            let failure = reader.failure
            try failure.check(engine.pointee.begin_reading(reader.handle, isSingle, failure.pointer))
            let result: T
            do {
                result = try body(reader)
            } catch {
                // Report the first error.
                _ = engine.pointee.end_reading(reader.handle, isSingle, failure.pointer)
                throw error
            }
            try failure.check(engine.pointee.end_reading(reader.handle, isSingle, failure.pointer))
            return result
        }
    }

    // MARK: Writing

    /// Makes a call, whose result is 0 for success, in a transaction.
    @inline(__always)
    func write(_ call: (OpaquePointer, UnsafeMutablePointer<baseline_error>) throws -> Int32) throws {
        try writer.check(engine.pointee.begin(handle, writer.pointer))
        do {
            try writer.check(try call(handle, writer.pointer))
            try writer.check(engine.pointee.commit(handle, writer.pointer))
        } catch {
            engine.pointee.roll_back(handle)
            throw error
        }
    }

    /// The token of the last pull, in ticks.
    func token() throws -> Int64 {
        var ticks: Int64 = 0
        try writer.check(engine.pointee.get_token(handle, &ticks, writer.pointer))
        return ticks
    }
}
#endif
