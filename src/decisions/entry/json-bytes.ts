/** The bytes of a text that is still JSON; null where something was replaced in it that no JSON can do without. */
export function jsonBytes(text: string): Uint8Array | null {
  try {
    JSON.parse(text)
    return Buffer.from(text)
  } catch {
    return null
  }
}
