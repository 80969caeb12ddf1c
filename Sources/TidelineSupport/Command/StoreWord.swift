#if Commands
internal import ArgumentParser

/// A store as `--store` names it, without a path: `NAME[:][,SETTING=VALUE…]`. The command creates the store in a folder
/// of its own. The colon is optional, for symmetry with options that take a path after it. Some commands accept a
/// folder for the stores they create: `NAME:FOLDER`, which is then the name.
package struct StoreWord: Hashable {
    package var name: String
    package var settings: [String] = []

    /// Creates a store name with settings.
    package init(name: String, settings: [String] = []) {
        self.name = name
        self.settings = settings
    }

    /// The name and the settings, separated by commas.
    package var text: String { ([name] + settings).joined(separator: ",") }

    /// The position in the list, for a word that ``at(_:)`` returned.
    package var place: Int? { name.hasPrefix("#") ? Int(name.dropFirst()) : nil }

    /// Returns a word for the store at a position in the list.
    package static func at(_ place: Int) -> StoreWord { StoreWord(name: "#\(place)") }

    /// Returns the stores that `--store` lists. The option may be repeated, and may list several stores with commas
    /// between them. A part with an equals sign is a setting of the store before it.
    package static func words(
        _ texts: [String], names: Set<String>, acceptsFolders: Bool = false
    ) throws -> [StoreWord] {
        var words: [StoreWord] = []
        for text in texts {
            // The name of a store may contain commas.
            let parts = names.contains(text) ? [text[...]] : text.split(separator: ",")
            for part in try parts.map({ try name($0, of: names, acceptsFolders) }) {
                if !part.contains("=") || names.contains(part) {
                    words.append(StoreWord(name: part))
                } else if words.isEmpty {
                    throw ValidationError("\(part.debugDescription) must follow the store that it configures.")
                } else {
                    words[words.count - 1].settings.append(part)
                }
            }
        }
        if let twice = words.first(where: { word in words.count { $0 == word } > 1 }) {
            throw ValidationError("the store \(twice.text) is listed more than once.")
        }
        return words
    }

    /// Returns a part of `--store` without the optional colon after the store's name.
    private static func name(_ part: Substring, of names: Set<String>, _ acceptsFolders: Bool) throws -> String {
        guard let colon = part.firstIndex(of: ":"), names.contains(String(part[..<colon])),
            !names.contains(String(part))
        else { return String(part) }
        let path = part[part.index(after: colon)...]
        if acceptsFolders, !path.isEmpty, !path.contains("=") { return String(part) }
        guard path.isEmpty else {
            let advice =
                path.contains("=")
                ? "write \(part[..<colon]),\(path)." : "remove the path \(String(path).debugDescription)."
            throw ValidationError("this command creates its own stores; \(advice)")
        }
        return String(part[..<colon])
    }
}
#endif
