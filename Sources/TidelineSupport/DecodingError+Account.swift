extension DecodingError {
    /// A description of the error and its location in the document.
    package var account: String {
        switch self {
        case .keyNotFound(let key, let context): "there is no \(Self.path(context.codingPath + [key]))"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            (context.codingPath.isEmpty ? "" : "\(Self.path(context.codingPath)): ") + context.debugDescription
        @unknown default: "\(self)"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}
