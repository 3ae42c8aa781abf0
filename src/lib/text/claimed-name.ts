/** A name that a caller gives without a proof, as it is shown and kept. */
export function claimedName(name: string): string {
  return `claimed:${name}`
}
