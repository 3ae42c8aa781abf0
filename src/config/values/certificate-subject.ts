/** The parts of a subject: types such as `CN` with their values. */
export type SubjectParts = ReadonlyMap<string, readonly string[]>

const PART =
  /\s*(?<type>[A-Za-z][\w.-]*|\d+(?:\.\d+)+)=\s*(?<value>(?:[^\\,\s]|\\.|\s+(?=[^\s,]))+)\s*(?:,(?=\s*\S)|$)/suy

/**
 * Parses `CN=echo, O=Example`, in which a backslash escapes the next character. Undefined if
 * malformed.
 */
export function parseSubject(text: string): SubjectParts | undefined {
  const parts = new Map<string, string[]>()
  for (let at = 0; at < text.length || at === 0; at = PART.lastIndex) {
    PART.lastIndex = at
    const { type, value } = PART.exec(text)?.groups ?? {}
    if (type === undefined || value === undefined) return undefined
    parts.set(type, [...(parts.get(type) ?? []), value.replace(/\\(?<kept>.)/gsu, '$<kept>')])
  }
  return parts
}
