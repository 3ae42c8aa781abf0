/** Escapes the special characters of regular expressions, of OPA's, too. */
export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** Escapes the special characters of OPA's glob patterns. */
export function escapeGlob(text: string): string {
  return text.replace(/[*?[\]{}\\!]/g, '\\$&')
}
