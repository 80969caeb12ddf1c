extension Check {
    static let lifecycleSharing: [Check] = []
}
