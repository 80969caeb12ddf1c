internal import Foundation
internal import Synchronization

/// The lines of a process in the order in which it prints them, read on a separate thread.
final class ChildLines: Sendable {
    enum Item {
        case line(String)
        case end
    }
    private let items = Mutex<[Item]>([])
    private let available = DispatchSemaphore(value: 0)

    func read(_ handle: FileHandle) {
        let thread = Thread { [self] in
            var rest: [UInt8] = []
            while case let data = handle.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    add(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeSubrange(...end)
                }
            }
            append(.end)
        }
        thread.start()
    }

    /// Returns the next line or the end, or `nil` if neither arrives in time.
    func next(within seconds: TimeInterval) -> Item? {
        guard available.wait(timeout: .now() + seconds) == .success else { return nil }
        return items.withLock { items in
            // The end stays in the queue.
            if case .end = items[0] { available.signal() } else { return items.removeFirst() }
            return items[0]
        }
    }

    private func add(_ line: String) {
        guard line.hasPrefix(ChildLine.prefix) else { return }
        append(.line(String(line.dropFirst(ChildLine.prefix.count))))
    }

    private func append(_ item: Item) {
        items.withLock { $0.append(item) }
        available.signal()
    }
}
