import Foundation
import Testing
import TidelineStore

@Suite("Rows and Codable types")
struct RowCodableTests {
    enum Kind: String, Codable { case simple, hard }
    enum Level: Int, Codable {
        case low = 1
        case high = 2
    }
    struct Place: Codable, Equatable {
        var name: String
        var since: Date?
    }

    struct Everything: Codable, Equatable {
        var id = "one"
        var flag = true
        var small: UInt8 = 255
        var big = Int64.min
        var ratio = -0.0
        var single: Float = 0.1
        var text = "e\u{301}\0"
        var at = Date(timeIntervalSince1970: -0.5)
        var exact = Timestamp(clampingTicks: 17_672_256_000_000_001)
        var data = Data([0, 255])
        var bytes: [UInt8] = []
        var uuid = UUID(uuidString: "ABCDEF01-2345-6789-ABCD-EF0123456789")
        var link = URL(string: "https://example.org/a?b=c")
        var kind = Kind.hard
        var level: Level? = .high
        var none: String?
        var list: [Int] = []
        var places: [Place] = [Place(name: "é", since: Date(timeIntervalSince1970: 1.25))]
        var counts: [String: Int] = ["a": 1]
    }

    @Test("Every kind of property has its column type and is read back unchanged")
    func everything() throws {
        let row = try Row(encoding: Everything())
        let expected: Row = [
            "id": "one", "flag": true, "small": 255, "big": .int(.min), "ratio": -0.0,
            "single": 0.1,
            "text": "e\u{301}\0", "at": .timestamp(Timestamp(clampingTicks: -5_000_000)),
            "exact": .timestamp(Timestamp(clampingTicks: 17_672_256_000_000_001)), "data": .bytes([0, 255]),
            "bytes": .bytes([]), "uuid": "abcdef01-2345-6789-abcd-ef0123456789", "link": "https://example.org/a?b=c",
            "kind": "hard", "level": 2, "list": .json("[]"),
            "places": .json(#"[{"name":"é","since":"1970-01-01T00:00:01.250Z"}]"#), "counts": .json(#"{"a":1}"#),
        ]
        var withNull = expected
        withNull["none"] = .null
        #expect(row == withNull)
        #expect(try row.decode(Everything.self) == Everything())
    }

    @Test("Nil clears a value; null and absent values read as nil")
    func nils() throws {
        struct Item: Codable, Equatable {
            var id: String?
            var text: String?
            var place: Place?
        }
        let row = try Row(encoding: Item())
        #expect(row == ["text": .null, "place": .null])
        #expect(row.id == nil)
        #expect(try row.decode(Item.self) == Item())
        #expect(try Row(id: "x").decode(Item.self) == Item(id: "x"))
    }

    @Test("Integer ids are keys")
    func integerIDs() throws {
        struct Operation: Codable, Equatable {
            var id: Int64
            var attempts: Int
        }
        let row = try Row(encoding: Operation(id: .max, attempts: 0))
        #expect(row.id == .int(.max))
        #expect(try row.decode(Operation.self) == Operation(id: .max, attempts: 0))
    }

    struct WithUnsigned: Encodable { var count: UInt64 }
    struct WithBoolID: Encodable { var id: Bool }
    struct WithNested: Encodable { var place: [String: Double] }
    struct ByHand: Encodable {
        enum Keys: String, CodingKey { case inner, a }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .inner)
            try nested.encode(1, forKey: .a)
        }
    }

    @Test(
        "A property that a row cannot represent is refused with its path",
        arguments: [
            (WithUnsigned(count: .max), ["count"]), (WithBoolID(id: true), ["id"]), (ByHand(), ["inner"]),
            (WithNested(place: ["x": .infinity]), ["place", "x"]), ([1], []), ("text", []),
        ] as [(any Encodable & Sendable, [String])])
    func encodingErrors(_ value: any Encodable & Sendable, _ path: [String]) throws {
        let error = #expect(throws: EncodingError.self) { try Row(encoding: value) }
        guard case .invalidValue(_, let context)? = error else { return }
        #expect(context.codingPath.map(\.stringValue) == path)
    }

    struct Small: Decodable { var n: Int8 }
    struct Required: Decodable { var text: String }
    struct Nested: Decodable { var place: Place }
    struct Picky: Decodable { var kind: Kind }

    struct Refused: Sendable {
        let path: [String]
        let decode: @Sendable () throws -> Void

        init<T: Decodable & Sendable>(_ type: T.Type, _ row: Row, _ path: String...) {
            self.path = path
            decode = { _ = try row.decode(T.self) }
        }
    }

    @Test(
        "A column that does not fit is refused with the path of the property",
        arguments: [
            Refused(Small.self, ["n": 128], "n"), Refused(Small.self, ["n": "1"], "n"),
            Refused(Small.self, ["n": true], "n"), Refused(Small.self, ["n": 1.0], "n"),
            Refused(Required.self, ["text": .null], "text"), Refused(Required.self, [:], "text"),
            Refused(Required.self, ["text": .json("[]")], "text"), Refused(Nested.self, ["place": "x"], "place"),
            Refused(Nested.self, ["place": .json(#"{"name":1}"#)], "place", "name"),
            Refused(Nested.self, ["place": .json("{")], "place"), Refused(Picky.self, ["kind": "odd"], "kind"),
        ])
    func decodingErrors(_ refused: Refused) throws {
        let error = #expect(throws: DecodingError.self) { try refused.decode() }
        let found: DecodingError.Context? =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            default: nil
            }
        #expect(found?.codingPath.map(\.stringValue) == refused.path)
    }

    @Test("A double property accepts an int that it represents exactly")
    func widening() throws {
        struct Item: Decodable { var d: Double }
        #expect(try (["d": 3] as Row).decode(Item.self).d == 3)
        #expect(throws: DecodingError.self) { try (["d": .int(1 << 53 + 1)] as Row).decode(Item.self) }
    }
}
