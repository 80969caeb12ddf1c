public import Observation

/// The newest rows of a live query as an observable object, for SwiftUI and other users of Observation.
///
/// ```swift
/// @State private var open = LiveRows(client.table("TodoItem").observe(query))
///
/// var body: some View {
///     List(open.rows, id: \.id) { Text($0["text"]?.string ?? "") }
/// }
/// ```
/// The query runs until the object is released.
@MainActor
@Observable
public final class LiveRows<Element: Sendable> {
    /// The last update, with the rows and what changed; `nil` until the rows are first read.
    public private(set) var update: LiveUpdate<Element>?
    /// The error that ended the query, or `nil` while it runs.
    public private(set) var error: (any Error)?
    @ObservationIgnored private var task: Task<Void, Never>?

    /// The rows, in the query's order; empty until they are first read.
    public var rows: LiveSnapshot<Element> { update?.rows ?? LiveSnapshot(list: nil) }

    /// Runs a live query.
    public init(_ query: LiveQuery<Element>) {
        task = Task { [weak self] in
            do {
                for try await update in query { self?.update = update }
            } catch {
                self?.error = error
            }
        }
    }

    isolated deinit { task?.cancel() }
}
