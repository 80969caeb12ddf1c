internal import ArgumentParser
internal import TidelineStore

/// Where a store is and how to open it: `ENGINE:PATH[,NAME=VALUE…]`, such as `sqlite:todo.db,durability=full`. An engine
/// without files has no path, and may go without the colon.
///
/// A comma that belongs to the path is written twice.
struct StoreLocation: Sendable {
    /// What was written.
    let text: String
    /// The engine, by its name.
    let engine: String
    /// The path, with single commas.
    let path: String
    /// Whether the rows are there again when the store is opened again.
    let keepsRows: Bool
    private let opener: StoreEngine.Opener
    private let readOnlyOpener: StoreEngine.Opener

    /// Reads what follows `--store`.
    /// - Throws: `ValidationError` that says what is wrong and what is known.
    init(parsing text: String) throws {
        let bare = StoreEngine.all.first { $0.name == text }
        let text = bare?.usage == nil && bare != nil ? text + ":" : text
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
            if bare != nil { throw ValidationError("\(text.debugDescription) names no path: write \(text):PATH.") }
            throw ValidationError(
                "\(text.debugDescription) names no engine: write ENGINE:PATH, such as sqlite:todo.db.")
        }
        let engine = try StoreEngine.named(String(text[..<colon]))
        var parts = Self.parts(text[text.index(after: colon)...])
        path = parts.removeFirst()
        guard path.isEmpty == (engine.usage == nil) else {
            throw ValidationError(
                path.isEmpty
                    ? "\(text.debugDescription) names no path after the colon."
                    : "\(engine.name) has no path: write \(engine.name): and nothing behind it but settings.")
        }
        self.text = text
        self.engine = engine.name
        keepsRows = engine.keepsRows && path != ":memory:"
        let settings = try StoreSettings(parts, of: engine)
        opener = try engine.makeOpener(path, settings, StoreAccess())
        readOnlyOpener =
            keepsRows
            ? try engine.makeOpener(path, settings, StoreAccess(createsIfMissing: false, isReadOnly: true)) : opener
    }

    /// Opens the store.
    /// - Parameter isReadOnly: Whether nothing is written: a store that does not exist is not made then.
    /// - Throws: `StoreError`.
    func open(isReadOnly: Bool = false) throws -> any LocalStore { try isReadOnly ? readOnlyOpener() : opener() }

    /// For the help of an option that takes a location.
    static let help = ArgumentHelp(
        "The store, as ENGINE:PATH[,NAME=VALUE…].",
        discussion: StoreEngine.all.map { engine in
            "\(engine.name)\(engine.usage.map { ":\($0)" } ?? ", which keeps nothing when the command ends")."
                + (engine.settings.isEmpty ? "" : " Settings: \(engine.settings.joined(separator: ", ")).")
        }.joined(separator: "\n"),
        valueName: "engine:path"
    )

    /// The text between single commas; a double comma is one that belongs to the text. At least one part.
    private static func parts(_ text: Substring) -> [String] {
        var parts = [""]
        var rest = text
        while let character = rest.popFirst() {
            if character != "," {
                parts[parts.count - 1].append(character)
            } else if rest.first == "," {
                rest.removeFirst()
                parts[parts.count - 1].append(",")
            } else {
                parts.append("")
            }
        }
        return parts
    }
}

/// Opens the store at `location`, runs `body` with it, and closes it whatever happens.
///
/// `body` gets the store as `any LocalStore`, for this is where it was chosen at run time; it hands it at once to code that is
/// generic over the store.
func withStore<R>(
    _ location: StoreLocation, isReadOnly: Bool = false, _ body: (any LocalStore) async throws -> R
) async throws -> R {
    let store = try location.open(isReadOnly: isReadOnly)
    let result: R
    do {
        result = try await body(store)
    } catch {
        // The first failure is the one to tell.
        try? store.close()
        throw error
    }
    try store.close()
    return result
}
