import { printable } from '../../lib/text/shown-text.js'

/** Characters that XML 1.0 does not allow, even as references. */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes a text for XML 1.0, and replaces characters that would act on a terminal. */
export function escapeXml(text: string): string {
  return printable(text.replace(NOT_XML, '\ufffd')).replace(
    /[&<>"]/g,
    (character) => ENTITIES[character] ?? '',
  )
}
