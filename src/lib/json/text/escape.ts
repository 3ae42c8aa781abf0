const HALF_PAIRS = /\p{Surrogate}/gu
const ESCAPED_FOR_HTML = /[<>&\u2028\u2029]/g

/**
 * Returns a JSON string in the form of Go's encoding/json, which also escapes `<`, `>`, `&`, U+2028
 * and U+2029.
 */
export function goJsonString(text: string): string {
  return escapeForHtml(JSON.stringify(text.replace(HALF_PAIRS, '\ufffd')))
}

/** Escapes in a JSON text the characters that Go's json.Marshal escapes for use inside HTML. */
function escapeForHtml(json: string): string {
  return json.replace(ESCAPED_FOR_HTML, escapeUnit)
}

function escapeUnit(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
