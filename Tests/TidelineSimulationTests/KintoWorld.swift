import Tideline
import TidelineSimulation
import TidelineStore

extension SimulatedWorld {
    /// Varies the world as a seed determines, and lets its devices speak the dialect of Kinto, perhaps with a flaw.
    mutating func varyKinto(by seed: UInt64, flaw: KintoFlaw? = nil) {
        vary(by: seed)
        let earlier = earlierSchema
        schema = schema.map(Self.exact)
        earlierSchema = earlier?.map(Self.exact)
        emptiesServer = true
        let kinto = KintoDialect(bucket: "b")
        if let flaw {
            speak(BrokenKinto(base: kinto, flaw: flaw), to: Self.makeKinto)
        } else {
            speak(kinto, to: Self.makeKinto)
        }
    }

    private static func exact(_ table: TableSchema) -> TableSchema {
        var table = table
        table.idMatching = .exact
        return table
    }

    @Sendable private static func makeKinto(_ environment: ServerEnvironment) -> ServerHandler {
        let face = KintoFace(environment.store, environment.tables, now: environment.now) { fault in
            let rarity =
                switch fault {
                case .lateStamp: 6
                case .cutPage: 5
                case .collision: 12
                case .backoff: 20
                case .missing: 12
                case .storage: 40
                case .notModified: 60
                }
            return environment.random(0..<rarity) == rarity - 1
        }
        return { request, body in try face.handle(request, body) }
    }
}
