/** A pure function that remembers its last answers, at most this many. */
export function remembered<T>(answer: (question: string) => T, most: number): (question: string) => T {
  const answers = new Map<string, T>()
  return (question) => {
    const known = answers.get(question)
    if (known !== undefined) return known
    const given = answer(question)
    // All at once: what is asked often is soon there again, and keeping an order would cost each question.
    if (answers.size >= most) answers.clear()
    answers.set(question, given)
    return given
  }
}
