const NAMES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for HTML, including attribute values. */
export function escapeHtml(text) {
  return text.replaceAll(/[&<>"]/g, (sign) => NAMES[sign])
}
