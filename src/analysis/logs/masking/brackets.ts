/** Whether a word is an opening bracket. */
export function isOpening(word: string): boolean {
  return word.length === 1 && '([{<'.includes(word)
}

/** Whether a word is a closing bracket. */
export function isClosing(word: string): boolean {
  return word.length === 1 && ')]}>'.includes(word)
}
