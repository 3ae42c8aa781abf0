/** A pure function of one text that remembers its last answers, at most this many. */
export function remembered<T>(answer: (question: string) => T, most: number): (question: string) => T
/** The same of any arguments, which `keyOf` gives the same text where the answer is the same. */
export function remembered<Question extends readonly unknown[], T>(
  answer: (...question: Question) => T,
  most: number,
  keyOf: (...question: Question) => string,
): (...question: Question) => T
export function remembered<Question extends readonly unknown[], T>(
  answer: (...question: Question) => T,
  most: number,
  keyOf: (...question: Question) => string = (...[text]) => String(text),
): (...question: Question) => T {
  const answers = new Map<string, { readonly given: T }>()
  return (...question) => {
    const key = keyOf(...question)
    const known = answers.get(key)
    if (known !== undefined) return known.given
    const given = answer(...question)
    // All at once: what is asked often is soon there again, and keeping an order would cost each question.
    if (answers.size >= most) answers.clear()
    answers.set(key, { given })
    return given
  }
}
