/** Parses a JSON text; undefined if it is invalid. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return undefined
  }
}
