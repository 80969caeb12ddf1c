internal import TidelineStore

/// Merges JSON arrays as sets: keeps the elements that either side added, and removes those that either side removed.
enum JSONUnion {
    /// Returns the merged array, or `nil` if a value is not an array or null. A null array counts as empty.
    static func merge(base: Value, local: Value, server: Value) -> Value? {
        guard let base = elements(of: base), let local = elements(of: local), let server = elements(of: server) else {
            return nil
        }
        let (inBase, inLocal, inServer) = (Set(base.map(\.key)), Set(local.map(\.key)), Set(server.map(\.key)))
        var seen: Set<Key> = []
        var merged: [Substring] = []
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
        var text: Substring
        var key: Key

        init(_ text: Substring) {
            self.text = text
            let content = try? RecordJSON.decode(JSONContent.self, from: String(text))
            key = content.map(Key.content) ?? .text(Array(text.utf8))
        }
    }

    private static func elements(of value: Value) -> [Element]? {
        switch value {
        case .null: []
        case .json(let text): split(text)?.map(Element.init)
        default: nil
        }
    }

    /// Returns the texts of an array's elements, or `nil` if the text is not an array.
    private static func split(_ text: String) -> [Substring]? {
        let bytes = text.utf8
        guard let start = bytes.firstIndex(where: { !isSpace($0) }), bytes[start] == UInt8(ascii: "["),
            let end = bytes.lastIndex(where: { !isSpace($0) }), end > start, bytes[end] == UInt8(ascii: "]")
        else { return nil }
        var elements: [Substring] = []
        var (depth, isText, isEscaped) = (0, false, false)
        var first = bytes.index(after: start)
        func append(upTo index: String.Index) {
            let element = text[first..<index].utf8
            guard let from = element.firstIndex(where: { !isSpace($0) }),
                let last = element.lastIndex(where: { !isSpace($0) })
            else { return }
            elements.append(text[from...last])
        }
        for index in bytes[first..<end].indices {
            let byte = bytes[index]
            if isText {
                isText = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ",") where depth == 0:
                append(upTo: index)
                first = bytes.index(after: index)
            default: break
            }
        }
        append(upTo: end)
        return elements
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
