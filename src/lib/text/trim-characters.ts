/**
 * Removes the given characters from the end of a text. A regular expression such as `/0+$/` takes
 * quadratic time for runs of them.
 */
export function trimTrailing(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

export function trimCharacters(text: string, characters: string): string {
  const rest = trimTrailing(text, characters)
  let start = 0
  while (start < rest.length && characters.includes(rest.charAt(start))) start++
  return rest.slice(start)
}
