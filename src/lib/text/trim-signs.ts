/** The text without any of these signs at its end. A regular expression such as `/0+$/` would try each run of them anew from every sign. */
export function trimLastSigns(text: string, signs: string): string {
  let end = text.length
  while (end > 0 && signs.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** The text without any of these signs at its start and its end. */
export function trimSigns(text: string, signs: string): string {
  const rest = trimLastSigns(text, signs)
  let start = 0
  while (start < rest.length && signs.includes(rest.charAt(start))) start++
  return rest.slice(start)
}
