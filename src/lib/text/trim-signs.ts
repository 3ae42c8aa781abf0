/**
 * Removes these characters from the end of a text. A regular expression such as `/0+$/` takes
 * quadratic time for runs of them.
 */
export function trimLastSigns(text: string, signs: string): string {
  let end = text.length
  while (end > 0 && signs.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

export function trimSigns(text: string, signs: string): string {
  const rest = trimLastSigns(text, signs)
  let start = 0
  while (start < rest.length && signs.includes(rest.charAt(start))) start++
  return rest.slice(start)
}
