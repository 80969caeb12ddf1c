internal import TidelineStore
internal import TidelineWire

/// Merges JSON arrays as sets: keeps the elements that either side added, and removes those that either side removed.
enum JSONUnion {
    /// Returns the merged array, or `nil` if a value is not an array or null. A null array counts as empty.
    static func merge(base: Value, local: Value, server: Value) -> Value? {
        guard let base = elements(of: base), let local = elements(of: local), let server = elements(of: server) else {
            return nil
        }
        let (inBase, inLocal, inServer) = (Set(base.map(\.key)), Set(local.map(\.key)), Set(server.map(\.key)))
        var seen: Set<Key> = []
        var merged: [String] = []
        for element in server + local where seen.insert(element.key).inserted {
            let isRemoved =
                inBase.contains(element.key)
                && !(inLocal.contains(element.key) && inServer.contains(element.key))
            if !isRemoved { merged.append(element.text) }
        }
        return .json("[\(merged.joined(separator: ","))]")
    }

    /// An element is compared by its content, and by its text if that cannot be read.
    private enum Key: Hashable {
        case content(JSONContent)
        case text([UInt8])
    }

    private struct Element {
        var text: String
        var key: Key

        init(_ text: String) {
            self.text = text
            let content = try? RecordJSON.decode(JSONContent.self, from: text)
            key = content.map(Key.content) ?? .text(Array(text.utf8))
        }
    }

    private static func elements(of value: Value) -> [Element]? {
        switch value {
        case .null: []
        case .json(let text): JSONTexts.elements(of: text)?.map(Element.init)
        default: nil
        }
    }
}
