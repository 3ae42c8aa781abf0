/** The parts of a subject: types such as `CN`, each with the values that it has. */
export type SubjectParts = ReadonlyMap<string, readonly string[]>

const PART =
  /\s*(?<type>[A-Za-z][\w.-]*|\d+(?:\.\d+)+)=\s*(?<value>(?:[^\\,\s]|\\.|\s+(?=[^\s,]))+)\s*(?:,(?=\s*\S)|$)/suy

/** Reads `CN=echo, O=Example`, where a backslash takes the next character as it is; undefined when the text is no such list. */
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
