/** Removes the spaces that OPA 1.x writes after commas and colons in Rego text, outside strings. */
export function compactText(text: string): string {
  return text
    .replace(/("(?:[^"\\]|\\.)*")|([,:]) /g, (_, string?: string, sign?: string) => string ?? sign ?? '')
    .trim()
}
