/** Marks a name that a caller claims without proof. */
export function claimedName(name: string): string {
  return `claimed:${name}`
}
