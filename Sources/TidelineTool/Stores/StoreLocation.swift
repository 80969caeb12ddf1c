#if Serve
internal import ArgumentParser
internal import Foundation
internal import TidelineStore

/// The path and settings of a store: `ENGINE:PATH[,NAME=VALUE…]`, such as `sqlite:todo.db,durability=full`. An engine
/// without files has no path and does not need the colon.
///
/// A comma in the path is doubled.
struct StoreLocation: Sendable {
    let text: String
    let engine: String
    /// The path, with single commas.
    let path: String
    /// Whether the store keeps its rows when it is closed.
    let keepsRows: Bool
    /// Whether the settings open the store for reading only.
    let isReadOnly: Bool
    /// Removes the store at a path with all its files. `nil` if the store is not in files of its own.
    let destroy: (@Sendable (_ path: String) throws -> Void)?
    private let parts: [String]
    private let opener: StoreEngine.Opener
    private let readOnlyOpener: StoreEngine.Opener

    /// Parses the value of `--store`.
    /// - Throws: `ValidationError`, with the problem and the valid values, if the text is invalid.
    init(parsing text: String) throws {
        let bare = StoreEngine.located.first { $0.name == text }
        let text = bare?.usage == nil && bare != nil ? text + ":" : text
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
            let name = text.prefix { $0 != "," }
            if let engine = StoreEngine.located.first(where: { $0.name == name }) {
                let path = engine.allowsEmptyPath ? "host=HOST,dbname=DATABASE" : engine.usage == nil ? "" : "PATH"
                throw ValidationError("\(text.debugDescription) has no path; write \(name):\(path).")
            }
            throw ValidationError(
                "\(text.debugDescription) has no engine; write ENGINE:PATH, such as sqlite:todo.db.")
        }
        let engine = try StoreEngine.named(String(text[..<colon]))
        var parts = Self.parts(text[text.index(after: colon)...])
        // Settings may begin at once. A text with spaces is a connection string.
        let beginsWithSetting = engine.settings.contains { parts[0].hasPrefix("\($0)=") } && !parts[0].contains(" ")
        let hasPath = !engine.allowsEmptyPath || !beginsWithSetting
        let path = hasPath ? parts.removeFirst() : ""
        guard engine.allowsEmptyPath || path.isEmpty == (engine.usage == nil) else {
            throw ValidationError(
                path.isEmpty
                    ? "\(text.debugDescription) has no path after the colon."
                    : "\(engine.name) takes no path; write \(engine.name): and only settings after it.")
        }
        try self.init(text, engine, path: path, parts)
    }

    private init(_ text: String, _ engine: StoreEngine, path: String, _ parts: [String]) throws {
        self.text = text
        self.path = path
        self.engine = engine.name
        self.parts = parts
        keepsRows = engine.keepsRows && path != ":memory:"
        let settings = try StoreSettings(parts, of: engine)
        isReadOnly = settings.text("read-only") == "yes"
        if let remove = engine.destroy, engine.nameSetting == nil {
            destroy = { try remove($0, settings) }
        } else {
            destroy = nil
        }
        opener = try engine.makeOpener(path, settings, StoreAccess())
        readOnlyOpener =
            keepsRows
            ? try engine.makeOpener(path, settings, StoreAccess(createsIfMissing: false, isReadOnly: true)) : opener
    }

    /// Opens the store.
    /// - Parameter isReadOnly: Whether to open the store for reading only. A store that does not exist is not created
    ///   then.
    /// - Throws: `StoreError`.
    func open(isReadOnly: Bool = false) throws -> any LocalStore { try isReadOnly ? readOnlyOpener() : opener() }

    /// Whether the store is one of files that do not exist.
    var isMissingFile: Bool { destroy != nil && access(path, F_OK) != 0 && errno == ENOENT }

    /// Returns whether an error of opening the store for reading only means that the store does not exist.
    func isMissing(after error: StoreError) -> Bool {
        error.cause is MissingStore || error.code == .io && isMissingFile
    }

    /// Returns the location with another path and the same settings.
    func moved(to path: String) throws -> StoreLocation {
        try StoreLocation(text, StoreEngine.named(engine), path: path, parts)
    }

    /// Returns the help of an option that takes a location.
    static func help(default location: String) -> ArgumentHelp {
        let engines = StoreEngine.located.map { engine in
            "\(engine.name)\(engine.usage.map { ":\($0)" } ?? ", which discards its rows when the command ends")."
                + (engine.settings.isEmpty ? "" : " Settings: \(engine.settings.joined(separator: ", ")).")
        }
        return ArgumentHelp(
            "The store, as ENGINE:PATH[,NAME=VALUE…].",
            discussion: (engines + ["The default is \(location)."]).joined(separator: "\n"), valueName: "engine:path")
    }

    /// Splits a text at single commas, and replaces double commas with single ones. Returns at least one part.
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

/// Opens the store at `location`, calls `body` with it, and closes it, even if `body` throws an error.
///
/// `body` receives the store as `any LocalStore`, because the store is chosen at run time. It should pass the store
/// directly to code that is generic over the store.
func withStore<R>(
    _ location: StoreLocation, isReadOnly: Bool = false, _ body: (any LocalStore) async throws -> R
) async throws -> R {
    let store = try location.open(isReadOnly: isReadOnly)
    let result: R
    do {
        result = try await body(store)
    } catch {
        // The first error is the relevant one.
        try? store.close()
        throw error
    }
    try store.close()
    return result
}
#endif
