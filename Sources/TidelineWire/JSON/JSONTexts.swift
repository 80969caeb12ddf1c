internal import TidelineStore

/// Lists of texts as JSON arrays of strings, read and written without Foundation's encoder, which takes 20 times as
/// long.
package enum JSONTexts {
    package static func encode(_ texts: [String]) -> String {
        var writer = JSONWriter()
        writer.beginArray()
        for (index, text) in texts.enumerated() {
            if index > 0 { writer.separator() }
            writer.append(string: text)
        }
        writer.endArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// - Throws: ``WireError`` for a text that is not a JSON array of strings.
    package static func decode(_ json: String) throws(WireError) -> [String] {
        var json = json
        let result: Result<[String], JSONFault> = json.withUTF8 { utf8 in
            do throws(JSONFault) {
                return .success(try read(JSONScanner(UnsafeRawBufferPointer(utf8))))
            } catch {
                return .failure(error)
            }
        }
        do {
            return try result.get()
        } catch {
            throw WireError(error.kind.code, error.kind.message(expecting: .string), offset: error.offset)
        }
    }

    /// Returns the text of each element of a JSON array, or `nil` if the text is not a JSON array.
    package static func elements(of json: String) -> [String]? {
        var json = json
        return json.withUTF8 { utf8 in
            var scanner = JSONScanner(UnsafeRawBufferPointer(utf8))
            return try? readElements(&scanner)
        }
    }

    private static func readElements(_ scanner: inout JSONScanner) throws(JSONFault) -> [String] {
        var elements: [String] = []
        guard try scanner.token() == UInt8(ascii: "[") else { throw scanner.unexpected() }
        try scanner.open()
        if try scanner.hasFirst(before: UInt8(ascii: "]")) {
            repeat {
                _ = try scanner.token()
                let start = scanner.position
                try scanner.skipValue()
                elements.append(String(decoding: scanner.slice(start, scanner.position), as: UTF8.self))
            } while try scanner.hasNext(before: UInt8(ascii: "]"))
        }
        try scanner.expectEnd()
        return elements
    }

    private static func read(_ start: JSONScanner) throws(JSONFault) -> [String] {
        var scanner = start
        var texts: [String] = []
        guard try scanner.token() == UInt8(ascii: "[") else { throw scanner.unexpected() }
        try scanner.open()
        if try scanner.hasFirst(before: UInt8(ascii: "]")) {
            repeat {
                guard try scanner.token() == UInt8(ascii: "\"") else { throw scanner.unexpected() }
                texts.append(try scanner.wholeText(scanner.string()))
            } while try scanner.hasNext(before: UInt8(ascii: "]"))
        }
        try scanner.expectEnd()
        return texts
    }
}
