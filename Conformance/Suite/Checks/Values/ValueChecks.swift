extension Check {
    /// Values and ids.
    static let values: [Check] =
        valuesByType + valueNumbers + valueTexts + valueSizes + idTexts + idMatching + idNumbers
}
