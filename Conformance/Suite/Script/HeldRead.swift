internal import Foundation
internal import Synchronization
internal import TidelineStore

/// A read that another thread keeps open during the script, and that must see the same state at its end.
final class HeldRead: Sendable {
    private let released = DispatchSemaphore(value: 0)
    private let begun = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let outcome = Mutex<Result<ScriptFailure?, any Error>>(.success(nil))
    private let model: StoreModel
    private let patience: Double

    /// Starts a read and returns after it has read everything.
    init(_ store: any LocalStore, _ model: StoreModel, patience: Double) throws {
        self.model = model
        self.patience = patience
        let thread = Thread { [self] in
            let result = Result { try store.read { try look(at: $0) } }
            outcome.withLock { $0 = result }
            begun.signal()
            ended.signal()
        }
        thread.stackSize = 8 << 20
        thread.start()
        try wait(for: begun)
    }

    /// Ends the read, and returns the differences that it found.
    func release() throws -> ScriptFailure? {
        released.signal()
        try wait(for: ended)
        return try outcome.withLock { try $0.get() }?.at(.held)
    }

    private func look(at reader: some StoreReader) throws -> ScriptFailure? {
        if let failure = try model.failure(in: reader) { return failure }
        begun.signal()
        try wait(for: released)
        return try model.failure(in: reader)
    }

    private func wait(for semaphore: DispatchSemaphore) throws {
        guard semaphore.wait(timeout: .now() + patience) == .success else {
            throw CheckFailure("a read on another thread, or a call beside it, does not return")
        }
    }
}
