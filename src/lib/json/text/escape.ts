const HALF_PAIRS = /\p{Surrogate}/gu
const ESCAPED_FOR_HTML = /[<>&\u2028\u2029]/g

/** The text as a JSON string in the form of Go's encoding/json: `<`, `>`, `&`, U+2028 and U+2029 are escaped too. */
export function goJsonString(text: string): string {
  return escapeForHtml(JSON.stringify(text.replace(HALF_PAIRS, '\ufffd')))
}

/** A JSON text with the characters escaped that Go's json.Marshal escapes so that it may be inside HTML. */
export function escapeForHtml(json: string): string {
  return json.replace(ESCAPED_FOR_HTML, escapeUnit)
}

function escapeUnit(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
