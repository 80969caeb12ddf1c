internal import ArgumentParser

/// A store as `--store` names it: `NAME[:][,SETTING=VALUE…]`, as where a path stands behind the colon; the command makes
/// the store in a folder of its own.
package struct StoreWord: Hashable {
    package var name: String
    package var settings: [String] = []

    /// A store with settings.
    package init(name: String, settings: [String] = []) {
        self.name = name
        self.settings = settings
    }

    /// Both.
    package var text: String { ([name] + settings).joined(separator: ",") }

    /// The place in the list, for a word that ``at(_:)`` made.
    package var place: Int? { name.hasPrefix("#") ? Int(name.dropFirst()) : nil }

    /// The store at a place in the list.
    package static func at(_ place: Int) -> StoreWord { StoreWord(name: "#\(place)") }

    /// The stores of `--store`, repeated or with commas between them; what has an equals sign is a setting of the store
    /// before it.
    package static func words(_ texts: [String], names: Set<String>) throws -> [StoreWord] {
        var words: [StoreWord] = []
        for text in texts {
            // A store's own name may have commas.
            for part in names.contains(text) ? [text] : try text.split(separator: ",").map({ try name($0, of: names) })
            {
                if !part.contains("=") || names.contains(part) {
                    words.append(StoreWord(name: part))
                } else if words.isEmpty {
                    throw ValidationError("\(part.debugDescription) is the setting of no store.")
                } else {
                    words[words.count - 1].settings.append(part)
                }
            }
        }
        if let twice = words.first(where: { word in words.count { $0 == word } > 1 }) {
            throw ValidationError("the store \(twice.text) is named twice.")
        }
        return words
    }

    /// A part of `--store` without the colon that may stand behind a store's name.
    private static func name(_ part: Substring, of names: Set<String>) throws -> String {
        guard let colon = part.firstIndex(of: ":"), names.contains(String(part[..<colon])),
            !names.contains(String(part))
        else { return String(part) }
        let path = part[part.index(after: colon)...]
        guard path.isEmpty else {
            throw ValidationError(
                "this command makes its own stores: leave out the path \(String(path).debugDescription).")
        }
        return String(part[..<colon])
    }
}
