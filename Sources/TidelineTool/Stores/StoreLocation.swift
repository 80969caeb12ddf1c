internal import ArgumentParser
internal import TidelineStore

/// Where a store is and how to open it: `ENGINE:PATH[,NAME=VALUE…]`, such as `sqlite:todo.db,durability=full`.
///
/// A comma that belongs to the path is written twice.
struct StoreLocation: Sendable {
    /// What was written.
    let text: String
    /// The engine, by its name.
    let engine: String
    /// The path, with single commas.
    let path: String
    private let opener: StoreEngine.Opener

    /// Reads what follows `--store`.
    /// - Throws: `ValidationError` that says what is wrong and what is known.
    init(parsing text: String) throws {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
            if let engine = StoreEngine.all.first(where: { $0.name == text }) {
                let path = engine.usage == nil ? "" : "PATH"
                throw ValidationError("\(text.debugDescription) has no colon behind it: write \(text):\(path).")
            }
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
        opener = try engine.makeOpener(path, StoreSettings(parts, of: engine), StoreAccess())
    }

    /// Opens the store.
    /// - Throws: `StoreError`.
    func open() throws -> any LocalStore { try opener() }

    /// For the help of an option that takes a location.
    static let help = ArgumentHelp(
        "The local store, as ENGINE:PATH[,NAME=VALUE…].",
        discussion: StoreEngine.all.map { engine in
            "\(engine.name):\(engine.usage ?? "")."
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
func withStore<R>(_ location: StoreLocation, _ body: (any LocalStore) async throws -> R) async throws -> R {
    let store = try location.open()
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
