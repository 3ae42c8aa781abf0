const NAMES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text that means itself in HTML, between quotes too. */
export function escapeHtml(text) {
  return text.replaceAll(/[&<>"]/g, (sign) => NAMES[sign])
}
