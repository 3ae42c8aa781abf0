/** Rego text without the spaces that OPA 1.x puts behind commas and colons, outside of strings. */
export function compactText(text: string): string {
  return text
    .replace(/("(?:[^"\\]|\\.)*")|([,:]) /g, (_, string?: string, sign?: string) => string ?? sign ?? '')
    .trim()
}
