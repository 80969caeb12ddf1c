internal import ArgumentParser
internal import TidelineCommandSupport

/// The `name=value` settings behind a store's path.
struct StoreSettings: Sendable {
    private var values: [String: String] = [:]

    /// Reads settings, of the names that `engine` knows.
    /// - Throws: `ValidationError` for text that is no setting, an unknown name, or a name given twice.
    init(_ parts: some Sequence<String>, of engine: StoreEngine) throws {
        for part in parts {
            guard let sign = part.firstIndex(of: "=") else {
                throw ValidationError(
                    "\(part.debugDescription) is no setting: write NAME=VALUE, and a comma in a path twice.")
            }
            let name = String(part[..<sign])
            guard !engine.settings.isEmpty else { throw ValidationError("\(engine.name) has no settings.") }
            guard engine.settings.contains(name) else {
                throw ValidationError(
                    "\(engine.name) has no setting \(name.debugDescription)."
                        + suggestion(for: name, among: engine.settings)
                        + " It knows: \(engine.settings.joined(separator: ", ")).")
            }
            guard values.updateValue(String(part[part.index(after: sign)...]), forKey: name) == nil else {
                throw ValidationError("the setting \(name.debugDescription) is given twice.")
            }
        }
    }

    /// The value of a setting with a fixed set of values; nil when it is not given.
    func choice<T>(_ name: String, _ choices: [String: T]) throws -> T? {
        guard let text = values[name] else { return nil }
        guard let value = choices[text] else {
            throw ValidationError(
                "\(name) is \(choices.keys.sorted().joined(separator: " or ")), not \(text.debugDescription).")
        }
        return value
    }

    /// A setting in seconds, from 0 to a day.
    func seconds(_ name: String) throws -> Duration? {
        guard let text = values[name] else { return nil }
        guard let seconds = Double(text), (0...86_400).contains(seconds) else {
            throw ValidationError("\(name) is a number of seconds from 0 to 86400, not \(text.debugDescription).")
        }
        return .seconds(seconds)
    }

    /// A whole number.
    func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ValidationError(
                "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound), not \(text.debugDescription)."
            )
        }
        return number
    }

    /// A number of bytes, from 64 KiB to 64 TiB: a whole number, with K, M, G or T behind it for powers of 1024.
    func bytes(_ name: String) throws -> Int? {
        guard let text = values[name] else { return nil }
        let units: [Character: Int] = ["K": 10, "M": 20, "G": 30, "T": 40]
        let shift = text.last.flatMap { units[$0] }
        let number = Int(shift == nil ? text[...] : text.dropLast())
        guard let number, number > 0, let bytes = Int(exactly: Double(number) * Double(1 << (shift ?? 0))),
            (1 << 16...1 << 46).contains(bytes)
        else {
            throw ValidationError(
                "\(name) is a number of bytes from 64K to 64T, such as 256M, not \(text.debugDescription).")
        }
        return bytes
    }
}
