/**
 * Compares names without case and Unicode variants (composition, invisible characters), so that one
 * person cannot count as two.
 */
export function isSamePerson(one: string, other: string): boolean {
  return one === other || foldedName(one) === foldedName(other)
}

/** Returns the form of a name that all its variants share. */
export function foldedName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .trim()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC')
}
